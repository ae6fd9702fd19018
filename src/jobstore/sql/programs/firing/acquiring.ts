import type { JobKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { AcquireAndFireRequest, AcquiredAndFired, AcquiredTrigger } from '../../../job-store.ts'
import { inFireOrder } from '../../../job-store.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { DueRequest } from '../../tables/triggers/due-statements.ts'
import type { DueTrigger, StoredTrigger } from '../../tables/triggers/trigger-table.ts'
import {
  type FaultyRow,
  type FaultyTrigger,
  putInError,
  putRowsInError,
  tellLeftToJava,
} from '../steps/faulty-triggers.ts'
import { type FirableTrigger, newFiredRow } from '../steps/firings.ts'
import { isLate, type ReadTriggers, treatRead } from '../steps/misfires.ts'
import { BatchPlaces } from './batch-places.ts'
import { fireUnclaimed } from './firing.ts'
import { namelessOf } from './nameless-rows.ts'
import { type NextLook, nextLook } from './next-look.ts'
import { beginSearch, leavingOut, notePassed, type Range, type Search, type SearchManner } from './search.ts'

/** How many misfired triggers one transaction handles, so that it stays short. */
const misfiresPerTransaction = 200
/** How many of those may become due at once, because they come before later triggers. */
const dueMisfiresPerTransaction = 50
const lateManner = { cause: 'late', byPolicy: true, dueMax: dueMisfiresPerTransaction } as const
/** How long late triggers wait while triggers in time keep this node busy. */
const misfireTurnMs = 1000
/** Among how many due triggers a search that met an unknown job type looks for further ones. */
const triggersSearchedForTypes = 500
/** How many unreadable rows are taken out of service at a time. */
const faultyPerStatement = 500

/** The result of a search. */
export interface SearchResult extends AcquiredAndFired, NextLook {
  /** Only late triggers are left: search again at once. */
  readonly isPartial: boolean
}

/**
 * Claims triggers, and with `fires` fires what is due now.
 *
 * Due triggers come first. Only when none is due, it looks for the earliest trigger ahead, by itself: a row that is
 * locked and then not claimed would be hidden from other nodes for nothing.
 */
export function* searchTriggers(
  tx: SqlTransaction,
  request: AcquireAndFireRequest,
  manner: SearchManner,
): SqlProgram<SearchResult> {
  const { nowMs } = tx
  const { noLaterThanMs, timeWindowMs } = request
  yield* reportTriggersOfJava(tx, noLaterThanMs)
  const places = new BatchPlaces(request, (due: DueTrigger) => firesNow({ ...manner, tx }, due))
  const search = yield* beginSearch(tx, { ...manner, places }, noLaterThanMs)
  const { fired, acquired } = search
  const dueMs = Math.min(noLaterThanMs, nowMs)
  const isWhole = yield* takeDue(search, dueMs)
  const hasDue = countOf(search) > 0
  if (!isWhole) return { fired, acquired: inFireOrder(acquired), isPartial: !hasDue, hasOverdueClaims: false }
  const leavesLimited = !hasDue && search.limitedWait
  if (!hasDue && noLaterThanMs > dueMs) yield* takeEach(search, { untilMs: noLaterThanMs, leavesLimited }, 1)
  const isEmpty = countOf(search) === 0
  // Triggers that have fired were due by now.
  const firstMs = acquired[0]?.trigger.nextFireTimeMs ?? nowMs
  // The caller asks anew when all that it has claimed has fired. What is limited may become due between.
  const lookUntilMs = leavesLimited ? firstMs + timeWindowMs : firstMs - 1
  const look = hasDue
    ? { hasOverdueClaims: false }
    : yield* nextLook(search, isEmpty ? noLaterThanMs : lookUntilMs)
  const batchEndMs = Math.max(firstMs, nowMs) + timeWindowMs
  if (batchEndMs > dueMs && !isEmpty) {
    yield* takeEach(search, { untilMs: batchEndMs, leavesLimited }, search.places.threads)
  }
  return { fired, acquired: inFireOrder(acquired), isPartial: false, ...look }
}

function countOf({ fired, acquired }: Search): number {
  return fired.length + acquired.length
}

/**
 * Takes triggers that are due until an instant: first those in time, then late ones, up to the limit of one
 * transaction; false when late triggers are left. While triggers in time take all the room, late ones wait for up to a
 * second.
 */
function* takeDue(search: Search, untilMs: EpochMs): SqlProgram<boolean> {
  const { tx, places } = search
  const lateUntilMs = tx.nowMs - tx.session.context.misfireThresholdMs
  for (;;) {
    const limit = places.count
    if (limit <= 0) return true
    const found = yield* lockKnown(search, { untilMs }, limit)
    if (found === null) continue
    const firstLate = found.findIndex((due) => needsTreatment(search, due))
    const hasProgress = yield* take(search, firstLate < 0 ? found : found.slice(0, firstLate))
    if (firstLate < 0) {
      if (found.length < limit || !hasProgress) return true
      continue
    }
    yield* takeEach(search, { afterMs: lateUntilMs, untilMs }, places.count)
    if (!search.treatsLate) {
      search.hasLeft = true
      return true
    }
    if (places.count <= 0 && !isTurnOfMisfires(tx)) return true
    if (!(yield* treatLate(search, Math.min(lateUntilMs, untilMs)))) return false
  }
}

/** Takes up to `most` triggers that are due within a range. */
function* takeEach(search: Search, range: Range, most: number): SqlProgram<void> {
  const untilCount = countOf(search) + most
  for (;;) {
    const limit = Math.min(untilCount - countOf(search), search.places.count)
    if (limit <= 0) return
    const found = yield* lockKnown(search, range, limit)
    if (found === null) continue
    const hasProgress = yield* take(search, found)
    if (found.length < limit || !hasProgress) return
  }
}

/** After a clock was set back, late triggers must not wait longer. */
function isTurnOfMisfires({ nowMs, session }: SqlTransaction): boolean {
  const { misfiresTreatedAtMs } = session.searchMemory
  return nowMs >= misfiresTreatedAtMs + misfireTurnMs || nowMs < misfiresTreatedAtMs
}

/** Carries out the misfire instructions of some late triggers; false when there may be more. */
function* treatLate(search: Search, lateUntilMs: EpochMs): SqlProgram<boolean> {
  const { tx } = search
  const late = yield* lockKnown(search, { untilMs: lateUntilMs }, misfiresPerTransaction)
  if (late === null) return true
  const untreated = late.filter((due) => needsTreatment(search, due))
  const treated = yield* treatRead(tx, readLate(tx, untreated), lateManner)
  for (const key of treated) search.treated.add(key)
  return treated.length === untreated.length && late.length < misfiresPerTransaction
}

/** The search has read what it locked, and all that it finds wait. */
function readLate({ session }: SqlTransaction, late: readonly DueTrigger[]): ReadTriggers {
  const stored: StoredTrigger[] = []
  const broken: FaultyTrigger[] = []
  for (const due of late) {
    try {
      stored.push({ trigger: session.triggers.triggerOf(due), state: 'WAITING' })
    } catch (error) {
      broken.push({ key: due.key, error })
    }
  }
  return { stored, broken }
}

/**
 * Locks due triggers. Null when one of them is not for this node, so that the search must be repeated without such
 * ones: an unknown job type, or, for the first time, a job that only some nodes are to run. Or when another session
 * holds the schedule of one.
 */
function* lockKnown(search: Search, range: Range, limit: number): SqlProgram<readonly DueTrigger[] | null> {
  const { triggers, context, clustered } = search.tx.session
  const request = leavingOut(search, range)
  const found = yield* lockReadable(search.tx, { ...request, limit })
  const hasStrangers = found.some(({ jobType }) => !context.knowsJobType(jobType))
  if (hasStrangers) {
    // There may be hundreds in a row.
    const types = yield* triggers.dueJobTypes({ ...request, limit: triggersSearchedForTypes })
    for (const jobType of [...types, ...found.map((due) => due.jobType)]) {
      if (!context.knowsJobType(jobType)) search.unknownJobTypes.add(jobType)
    }
  }
  const isFirstForNodes =
    clustered && !search.affinityIsUsed && found.some(({ isForNodes }) => isForNodes === true)
  if (isFirstForNodes) search.affinityIsUsed = true
  // Another node may have locked triggers that this search left out; beside Java nodes, none searches meanwhile.
  const seesAll = !clustered || request.unread.length > 0
  if (seesAll && range.afterMs === undefined) notePassed(search, request, found[0]?.nextFireTimeMs ?? null)
  if (hasStrangers || isFirstForNodes) return null
  return search.locksSchedules && (yield* leaveHeldSchedules(search, found)) ? null : found
}

/** Leaves triggers whose schedule another session holds; answers whether there are any. No signal says when it ends. */
function* leaveHeldSchedules(search: Search, found: readonly DueTrigger[]): SqlProgram<boolean> {
  const held = yield* search.tx.session.triggers.lockSchedules(found)
  for (const key of held) search.leftTriggers.add(key)
  if (held.length > 0) search.hasLeft = true
  return held.length > 0
}

/** Locks due triggers; unreadable rows in front of them are taken out of service. */
function* lockReadable(tx: SqlTransaction, request: DueRequest): SqlProgram<readonly DueTrigger[]> {
  const { triggers } = tx.session
  for (;;) {
    const found = yield* triggers.lockDue(request)
    if (faultsOf(found).length === 0) return found
    yield* putRowsInError(tx, faultsOf(yield* triggers.lockDue({ ...request, limit: faultyPerStatement })))
  }
}

function faultsOf(found: readonly DueTrigger[]): FaultyRow[] {
  return found.flatMap(({ key, rowId, fault }) => (fault === undefined ? [] : [{ key, rowId, error: fault }]))
}

function needsTreatment(search: Search, due: DueTrigger): boolean {
  return isLate(search.tx, due) && !search.treated.has(due.key)
}

/** Reports, once each, the triggers that only Java nodes will run. */
function* reportTriggersOfJava(tx: SqlTransaction, untilMs: number): SqlProgram<void> {
  const { session, nowMs, notes } = tx
  if (session.triggersOfJava === null) return
  tellLeftToJava(tx, yield* session.triggersOfJava.newlyDue(nowMs, untilMs, notes))
}

interface Candidate {
  readonly due: DueTrigger
  readonly trigger: Trigger
  /** Null when the trigger is to be claimed. */
  readonly jobDetail: JobDetail | null
}

/**
 * Claims or fires the triggers that may start; the others are left out from now on. False when none could start, so
 * that going on would be useless.
 */
function* take(search: Search, found: readonly DueTrigger[]): SqlProgram<boolean> {
  const { leftJobs, faulty } = search
  const before = { left: leftJobs.size, faulty: faulty.size }
  const free = yield* withoutBusyJobs(search, found)
  const fitting = search.places.fitting(free)
  const count = fitting.length === 0 ? 0 : yield* takeFree(search, fitting)
  if (fitting.length < free.length) search.places.close()
  return count > 0 || leftJobs.size > before.left || faulty.size > before.faulty
}

/** The same for triggers whose jobs are free; answers how many the batch has room for. */
function* takeFree(search: Search, free: readonly DueTrigger[]): SqlProgram<number> {
  const { tx } = search
  const candidates = yield* readCandidates(search, free)
  const admitted = search.rooms === null ? candidates : yield* search.rooms.admit(candidates)
  const firable: FirableTrigger[] = []
  const claims: (Candidate & { readonly row: FiredRow })[] = []
  for (const candidate of admitted) {
    const { trigger, jobDetail, due } = candidate
    const row = newFiredRow(tx, trigger, due, 'ACQUIRED')
    if (jobDetail === null) claims.push({ ...candidate, row })
    else firable.push({ trigger, jobDetail, row, rowId: due.rowId })
  }
  for (const bundle of yield* fireUnclaimed(tx, firable)) {
    search.places.takeForFiring(bundle.jobDetail.jobType)
    search.fired.push(bundle)
  }
  yield* tx.session.triggers.setStates(claims.map(({ due: { key } }) => ({ key, state: 'ACQUIRED' })))
  yield* tx.session.firedTriggers.insert(claims.map(({ row }) => row))
  for (const { due, trigger, row } of claims) {
    search.places.takeForClaim()
    const claim: AcquiredTrigger = {
      trigger,
      fireInstanceId: row.fireInstanceId,
      ...(due.isSplit === true && { isSplit: true }),
      ...(!due.nonConcurrent && { isConcurrent: true }),
    }
    search.acquired.push(claim)
  }
  return candidates.length
}

/**
 * Whether a trigger is fired in this step. A trigger of a job that forbids concurrent execution is not: firing it
 * blocks the job's other triggers, and two nodes that have locked some of these would wait for each other. Nor is one
 * whose firing is split, which needs a lock on the job.
 */
function firesNow({ fires, tx }: Pick<Search, 'fires' | 'tx'>, due: DueTrigger): boolean {
  return fires && due.nextFireTimeMs <= tx.nowMs && !due.nonConcurrent && due.isSplit !== true
}

/**
 * Reads the triggers, and the jobs of those that are fired now or will be split. Unreadable ones are taken out of
 * service.
 */
function* readCandidates(search: Search, found: readonly DueTrigger[]): SqlProgram<readonly Candidate[]> {
  const { tx } = search
  const nameless = yield* namelessOf(tx, found)
  const jobs = new KeyMap<JobKey, JobDetail>()
  const faulty: FaultyTrigger[] = []
  const candidates: Candidate[] = []
  for (const due of found) {
    if (nameless.some(({ key }) => key === due.key)) continue
    try {
      candidates.push(candidateOf(search, due, jobs))
    } catch (error) {
      faulty.push({ key: due.key, error })
    }
  }
  for (const { key } of [...faulty, ...nameless]) search.faulty.add(key)
  yield* putInError(tx, faulty)
  yield* putRowsInError(tx, nameless)
  return candidates
}

/** @throws JobPersistenceError ERR_BROKEN_ROW */
function candidateOf(search: Search, due: DueTrigger, jobs: KeyMap<JobKey, JobDetail>): Candidate {
  const { triggers } = search.tx.session
  const trigger = triggers.triggerOf(due)
  if (!firesNow(search, due) && due.isSplit !== true) return { due, trigger, jobDetail: null }
  let jobDetail = jobs.get(due.jobKey)
  if (jobDetail === undefined) {
    jobDetail = triggers.jobOf(due)
    jobs.set(due.jobKey, jobDetail)
  }
  return { due, trigger, jobDetail: due.isSplit === true ? null : jobDetail }
}

/**
 * Leaves out triggers of non-concurrent jobs that may not start: one claim for each such job, and none while another
 * node has one. The job's row is locked before its claims are read, so two nodes cannot both find none. The end of a
 * claim or an execution sends a signal; the end of another transaction that has locked the job's row does not.
 */
function* withoutBusyJobs(search: Search, found: readonly DueTrigger[]): SqlProgram<readonly DueTrigger[]> {
  const { jobs, firedTriggers } = search.tx.session
  const firstOfJob = new KeyMap<DueTrigger['jobKey'], DueTrigger>()
  for (const due of found) {
    if (due.nonConcurrent && !firstOfJob.has(due.jobKey)) firstOfJob.set(due.jobKey, due)
  }
  if (firstOfJob.size === 0) return found
  const locked = yield* jobs.tryLock(firstOfJob.keys())
  const free = new KeySet(locked.map(({ key }) => key))
  for (const key of firstOfJob.keys()) if (!free.has(key)) leaveJob(search, key)
  const busy = new KeySet(yield* firedTriggers.busy(free.keys()))
  for (const key of busy.keys()) search.leftJobs.add(key)
  return found.filter((due) => {
    const { jobKey, nonConcurrent } = due
    return !nonConcurrent || (free.has(jobKey) && !busy.has(jobKey) && firstOfJob.get(jobKey) === due)
  })
}

/** There is no signal when the lock on the job ends. */
function leaveJob(search: Search, key: JobKey): void {
  search.leftJobs.add(key)
  search.hasLeft = true
}
