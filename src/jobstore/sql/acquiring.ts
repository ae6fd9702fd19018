import { JobPersistenceError } from '../../core/errors.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { plannedFireTimeMs, type Trigger } from '../../triggers/trigger.ts'
import type { AcquiredAndFired, AcquiredTrigger, AcquireRequest, TriggerFiredBundle } from '../job-store.ts'
import { type FaultyTrigger, putInError } from './faulty-triggers.ts'
import type { FiredRow } from './fired-trigger-table.ts'
import { type FirableTrigger, fireUnclaimed } from './firing.ts'
import { GroupRooms } from './group-rooms.ts'
import { KeyMap } from './key-map.ts'
import { isLate, treatMisfires } from './misfires.ts'
import { uniqueKeys } from './settling.ts'
import type { SqlTransaction } from './sql-session.ts'
import { type SqlProgram, together } from './statement.ts'
import type { DueTrigger } from './trigger-table.ts'

/** How many late triggers one transaction moves out of the way, so that it stays short. */
const misfiresPerTransaction = 500
/** How often one search looks again after part of what it found could not be claimed. */
const roundsMax = 8

interface Search {
  readonly tx: SqlTransaction
  /** Whether what is due now is fired at once instead of claimed. */
  readonly fires: boolean
  readonly fired: TriggerFiredBundle[]
  readonly acquired: AcquiredTrigger[]
  /** Late triggers whose instruction was carried out: one that is late still fires late. */
  readonly treated: KeyMap<DueTrigger['key'], true>
  /** Null where no group is limited. */
  readonly rooms: GroupRooms | null
  readonly unknownJobTypes: Set<string>
  affinityIsUsed: boolean | null
}

/**
 * Claims triggers; null means that this transaction went by with late triggers and nothing is claimed yet.
 *
 * What is due now comes first. Only when that is nothing, the earliest trigger ahead is looked for, by itself: a row
 * that is locked and then not claimed would have been hidden from the other nodes for nothing.
 */
export function* acquireTriggers(
  tx: SqlTransaction,
  request: AcquireRequest,
): SqlProgram<readonly AcquiredTrigger[] | null> {
  const batch = yield* searchTriggers(tx, request, { fires: false })
  return batch === null ? null : batch.acquired
}

/** The same, and fires what is due now. */
export function* acquireAndFireTriggers(
  tx: SqlTransaction,
  request: AcquireRequest,
): SqlProgram<AcquiredAndFired | null> {
  return yield* searchTriggers(tx, request, { fires: true })
}

function* searchTriggers(
  tx: SqlTransaction,
  request: AcquireRequest,
  { fires }: { readonly fires: boolean },
): SqlProgram<AcquiredAndFired | null> {
  const { nowMs } = tx
  const { searchMemory: memory, context } = tx.session
  const { noLaterThanMs, maxCount, timeWindowMs } = request
  yield* reportTriggersOfJava(tx, noLaterThanMs)
  const search: Search = {
    tx,
    fires,
    fired: [],
    acquired: [],
    treated: new KeyMap(),
    rooms: yield* lookAtRooms(tx, noLaterThanMs),
    unknownJobTypes: new Set([...memory.unknownJobTypes].filter((type) => !context.knowsJobType(type))),
    affinityIsUsed: memory.affinityIsUsed,
  }
  tx.notes.add(() => {
    memory.unknownJobTypes = search.unknownJobTypes
    memory.affinityIsUsed = search.affinityIsUsed
  })
  const { fired, acquired } = search
  const dueMs = Math.min(noLaterThanMs, nowMs)
  const isWhole = yield* takeUntil(search, dueMs, maxCount)
  if (!isWhole) return countOf(search) > 0 ? { fired, acquired } : null
  if (countOf(search) === 0 && noLaterThanMs > dueMs) yield* takeUntil(search, noLaterThanMs, 1)
  if (countOf(search) === 0) return { fired, acquired }
  // What has fired was due by now.
  const firstMs = acquired[0]?.trigger.nextFireTimeMs ?? nowMs
  const batchEndMs = Math.max(firstMs, nowMs) + timeWindowMs
  if (batchEndMs > dueMs && countOf(search) < maxCount) yield* takeUntil(search, batchEndMs, maxCount)
  return { fired, acquired }
}

function countOf({ fired, acquired }: Search): number {
  return fired.length + acquired.length
}

function* lookAtRooms(
  { session: { groupLimits }, nowMs, notes }: SqlTransaction,
  untilMs: number,
): SqlProgram<GroupRooms | null> {
  if (groupLimits === null) return null
  notes.add(() => {
    groupLimits.lookAheadMs = Math.max(0, untilMs - nowMs)
  })
  return yield* GroupRooms.look(groupLimits)
}

/** Says which triggers only Java nodes will run, once for each. */
function* reportTriggersOfJava(tx: SqlTransaction, untilMs: number): SqlProgram<void> {
  const { session, signals, nowMs, notes } = tx
  if (session.triggersOfJava === null) return
  for (const { key, reason } of yield* session.triggersOfJava.newlyDue(nowMs, untilMs, notes)) {
    const message = `Trigger '${key.toString()}' is left to Java nodes: ${reason}.`
    signals.storeError(message, new JobPersistenceError(message, { code: 'ERR_BROKEN_ROW' }))
  }
}

/** Takes what is due until an instant, up to `maxCount` in all; false when late triggers took up the transaction. */
function* takeUntil(search: Search, untilMs: number, maxCount: number): SqlProgram<boolean> {
  const { tx } = search
  const { session } = tx
  for (let round = 0; round < roundsMax && countOf(search) < maxCount; round++) {
    const limit = maxCount - countOf(search)
    const found = yield* lockKnown(search, untilMs, limit)
    if (found === null) continue
    if (found.some((due) => needsTreatment(search, due))) {
      const lateUntilMs = tx.nowMs - session.context.misfireThresholdMs
      const late = (yield* lockKnown(search, lateUntilMs, misfiresPerTransaction)) ?? []
      const untreated = late.filter((due) => needsTreatment(search, due))
      for (const { key } of untreated) search.treated.set(key, true)
      yield* treatMisfires(
        tx,
        untreated.map(({ key }) => key),
      )
      if (untreated.length === misfiresPerTransaction) return false
      continue
    }
    yield* take(search, found)
    if (found.length < limit) break
  }
  return true
}

/**
 * Locks what is due; null when something turned up that this node must leave alone, so that the search is to leave it
 * out: a job type that is not known here, or, for the first time, a job that only some nodes are to run.
 */
function* lockKnown(
  search: Search,
  untilMs: number,
  limit: number,
): SqlProgram<readonly DueTrigger[] | null> {
  const { session } = search.tx
  const node = search.affinityIsUsed === true ? session.context.instanceId : null
  const found = yield* session.triggers.lockDue({
    untilMs,
    limit,
    unknownJobTypes: [...search.unknownJobTypes],
    node,
    fullGroups: search.rooms?.fullGroups ?? [],
  })
  const strangers = found.filter(({ jobType }) => !session.context.knowsJobType(jobType))
  for (const { jobType } of strangers) search.unknownJobTypes.add(jobType)
  const isFirstForNodes =
    search.affinityIsUsed === false && found.some(({ isForNodes }) => isForNodes === true)
  if (isFirstForNodes) search.affinityIsUsed = true
  return strangers.length === 0 && !isFirstForNodes ? found : null
}

function needsTreatment(search: Search, due: DueTrigger): boolean {
  return isLate(search.tx, due) && !search.treated.has(due.key)
}

interface Candidate {
  readonly due: DueTrigger
  readonly trigger: Trigger
  /** Null when it is to be claimed. */
  readonly jobDetail: JobDetail | null
}

/** Claims what was found, or fires it, as far as it may start. */
function* take(search: Search, found: readonly DueTrigger[]): SqlProgram<void> {
  const { tx } = search
  const free = yield* withoutBusyJobs(tx, found)
  if (free.length === 0) return
  const candidates = yield* loadCandidates(search, free)
  const admitted = search.rooms === null ? candidates : yield* search.rooms.admit(candidates)
  const firable: FirableTrigger[] = []
  const claims: (Candidate & { readonly row: FiredRow })[] = []
  for (const candidate of admitted) {
    const { trigger, jobDetail } = candidate
    const row = claimOf(tx, candidate)
    if (jobDetail === null) claims.push({ ...candidate, row })
    else firable.push({ trigger, jobDetail, row })
  }
  search.fired.push(...(yield* fireUnclaimed(tx, firable)))
  yield* tx.session.triggers.setStates(claims.map(({ due: { key } }) => ({ key, state: 'ACQUIRED' })))
  yield* tx.session.firedTriggers.insert(claims.map(({ row }) => row))
  for (const { trigger, row } of claims) search.acquired.push({ trigger, fireInstanceId: row.fireInstanceId })
}

/**
 * Whether a trigger is fired in this step. Not of a job that forbids concurrent execution: firing it blocks the
 * triggers beside it, and two nodes that hold some of each other's would wait for one another.
 */
function firesNow({ fires, tx }: Search, due: DueTrigger): boolean {
  return fires && due.nextFireTimeMs <= tx.nowMs && !due.nonConcurrent
}

/** Reads the triggers, and the jobs of those that are fired now. */
function* loadCandidates(search: Search, found: readonly DueTrigger[]): SqlProgram<readonly Candidate[]> {
  const { tx } = search
  const { triggers, jobs } = tx.session
  const jobKeys = found.filter((due) => firesNow(search, due)).map(({ jobKey }) => jobKey)
  const [stored, loaded] = yield* together(
    triggers.load(found.map(({ key }) => key)),
    jobs.load(uniqueKeys(jobKeys)),
  )
  const faulty: FaultyTrigger[] = [...stored.broken]
  const candidates: Candidate[] = []
  for (const due of found) {
    const trigger = stored.found.get(due.key)?.trigger
    if (trigger === undefined) continue
    if (!firesNow(search, due)) {
      candidates.push({ due, trigger, jobDetail: null })
      continue
    }
    const jobDetail = loaded.found.get(due.jobKey)
    if (jobDetail === undefined) faulty.push({ key: due.key, error: loaded.broken.get(due.jobKey) })
    // A job that came to forbid concurrency since it was looked at: its trigger is found the next time.
    else if (!jobDetail.disallowConcurrentExecution) candidates.push({ due, trigger, jobDetail })
  }
  yield* putInError(tx, faulty)
  return candidates
}

function claimOf({ session, nowMs }: SqlTransaction, { due, trigger }: Candidate): FiredRow {
  return {
    fireInstanceId: session.nextFireInstanceId(),
    triggerKey: due.key,
    jobKey: due.jobKey,
    instanceId: session.context.instanceId,
    state: 'ACQUIRED',
    firedTimeMs: nowMs,
    plannedTimeMs: plannedFireTimeMs(trigger) ?? nowMs,
    priority: trigger.priority,
    nonConcurrent: due.nonConcurrent,
    requestsRecovery: due.requestsRecovery,
  }
}

/**
 * Leaves out triggers of non-concurrent jobs that may not start: one claim for each such job, and none while another
 * node holds one. The job's row is locked before the claims are looked at, so two nodes cannot both find none.
 */
function* withoutBusyJobs(
  tx: SqlTransaction,
  found: readonly DueTrigger[],
): SqlProgram<readonly DueTrigger[]> {
  const { jobs, firedTriggers } = tx.session
  const firstOfJob = new KeyMap<DueTrigger['jobKey'], DueTrigger>()
  for (const due of found) {
    if (due.nonConcurrent && !firstOfJob.has(due.jobKey)) firstOfJob.set(due.jobKey, due)
  }
  if (firstOfJob.size === 0) return found
  const locked = yield* jobs.tryLock(firstOfJob.keys())
  const free = new KeyMap<DueTrigger['jobKey'], true>()
  for (const { key } of locked) free.set(key, true)
  for (const key of yield* firedTriggers.busy(free.keys())) free.delete(key)
  return found.filter(
    (due) => !due.nonConcurrent || (free.has(due.jobKey) && firstOfJob.get(due.jobKey) === due),
  )
}
