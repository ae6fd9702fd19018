import { JobPersistenceError } from '../../../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { plannedFireTimeMs, type Trigger } from '../../../../triggers/trigger.ts'
import type {
  AcquiredAndFired,
  AcquiredTrigger,
  AcquireRequest,
  TriggerFiredBundle,
} from '../../../job-store.ts'
import { inFireOrder } from '../../../job-store.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { LeftFor } from '../../session/passed-triggers.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { brokenRow, brokenValue } from '../../tables/encoding/broken-row.ts'
import type { FiredRow } from '../../tables/firings/fired-trigger-table.ts'
import type { DueRequest } from '../../tables/triggers/due-statements.ts'
import type { DueTrigger } from '../../tables/triggers/trigger-table.ts'
import { type FaultyRow, type FaultyTrigger, putInError, putRowsInError } from '../steps/faulty-triggers.ts'
import { isLate, treatMisfires } from '../steps/misfires.ts'
import { uniqueKeys } from '../steps/settling.ts'
import { type FirableTrigger, fireUnclaimed } from './firing.ts'
import { GroupRooms } from './group-rooms.ts'
import { overdueClaimMs } from './overdue-claims.ts'

/** How many late triggers one transaction moves out of the way, so that it stays short. */
const misfiresPerTransaction = 200
/** How many of those may be due at once: they stand before what comes due later. */
const dueMisfiresPerTransaction = 50
/** How long late triggers wait for their turn while what is due in time keeps this node busy. */
const misfireTurnMs = 1000
/** Among how many due triggers a search that met an unknown job type looks for further ones. */
const triggersSearchedForTypes = 500
/** How many rows of junk are taken out of the way at a time. */
const faultyPerStatement = 500

/** What a search came to. */
export interface SearchResult extends AcquiredAndFired {
  /** Late triggers are left, and nothing else: search again at once. */
  readonly isPartial: boolean
  /** Other nodes hold claims that they should have fired by now. */
  readonly hasOverdueClaims: boolean
}

/** What a search may do with the triggers that it finds. */
export interface SearchManner {
  /** Whether triggers that are due now are fired at once instead of claimed. */
  readonly fires: boolean
  /** Whether the misfire instructions of late triggers are carried out; otherwise late triggers are left. */
  readonly treatsLate: boolean
}

interface Search extends SearchManner {
  readonly tx: SqlTransaction
  readonly maxCount: number
  readonly fired: TriggerFiredBundle[]
  readonly acquired: AcquiredTrigger[]
  /** Late triggers whose instruction was carried out: one that is late still fires late. */
  readonly treated: KeyMap<TriggerKey, true>
  /** Triggers that could not be read or computed. */
  readonly faulty: KeyMap<TriggerKey, true>
  /** Null where no group is limited. */
  readonly rooms: GroupRooms | null
  readonly unknownJobTypes: Set<string>
  /** What is noted as passed over holds only while this has not changed. */
  readonly passedVersion: number
  affinityIsUsed: boolean
  /** Jobs of which nothing more may start in this search. */
  readonly leftJobs: KeyMap<JobKey, true>
  /** Whether something that is due was left for a reason that passes without a word: another transaction's lock. */
  hasLeft: boolean
}

/** The instants that a part of a search looks at. */
interface Range {
  readonly afterMs?: EpochMs
  readonly untilMs: EpochMs
}

/**
 * Claims triggers, and with `fires` fires what is due now.
 *
 * What is due now comes first. Only when that is nothing, the earliest trigger ahead is looked for, by itself: a row
 * that is locked and then not claimed would have been hidden from the other nodes for nothing.
 */
export function* searchTriggers(
  tx: SqlTransaction,
  request: AcquireRequest,
  manner: SearchManner,
): SqlProgram<SearchResult> {
  const { nowMs } = tx
  const { noLaterThanMs, maxCount, timeWindowMs } = request
  yield* reportTriggersOfJava(tx, noLaterThanMs)
  const search = beginSearch(tx, { ...manner, maxCount }, yield* lookAtRooms(tx, noLaterThanMs))
  const { fired, acquired } = search
  const dueMs = Math.min(noLaterThanMs, nowMs)
  const isWhole = yield* takeDue(search, dueMs)
  const hasDue = countOf(search) > 0
  if (!isWhole) return { fired, acquired: inFireOrder(acquired), isPartial: !hasDue, hasOverdueClaims: false }
  if (!hasDue && noLaterThanMs > dueMs) yield* takeEach(search, { untilMs: noLaterThanMs }, 1)
  // What has fired was due by now.
  const firstMs = acquired[0]?.trigger.nextFireTimeMs ?? nowMs
  const look = hasDue
    ? { hasOverdueClaims: false }
    : yield* nextLook(search, countOf(search) > 0 ? firstMs - 1 : noLaterThanMs)
  const batchEndMs = Math.max(firstMs, nowMs) + timeWindowMs
  if (batchEndMs > dueMs && countOf(search) > 0) yield* takeEach(search, { untilMs: batchEndMs }, maxCount)
  return { fired, acquired: inFireOrder(acquired), isPartial: false, ...look }
}

function beginSearch(
  tx: SqlTransaction,
  manner: SearchManner & Pick<Search, 'maxCount'>,
  rooms: GroupRooms | null,
): Search {
  const { searchMemory: memory, context } = tx.session
  const search: Search = {
    tx,
    ...manner,
    fired: [],
    acquired: [],
    treated: new KeyMap(),
    faulty: new KeyMap(),
    rooms,
    unknownJobTypes: new Set([...memory.unknownJobTypes].filter((type) => !context.knowsJobType(type))),
    passedVersion: memory.passed.version,
    affinityIsUsed: memory.affinityIsUsed,
    leftJobs: new KeyMap(),
    hasLeft: false,
  }
  tx.notes.add(() => {
    memory.unknownJobTypes = search.unknownJobTypes
    memory.affinityIsUsed = search.affinityIsUsed
    if (search.treated.size > 0) memory.misfiresTreatedAtMs = tx.nowMs
  })
  return search
}

function countOf({ fired, acquired }: Search): number {
  return fired.length + acquired.length
}

/**
 * Takes what is due until an instant: first what is due in time, then what is late, as far as one transaction goes;
 * false when late triggers are left. While triggers in time take all there is room for, late ones wait, for a second.
 */
function* takeDue(search: Search, untilMs: EpochMs): SqlProgram<boolean> {
  const { tx, maxCount } = search
  const lateUntilMs = tx.nowMs - tx.session.context.misfireThresholdMs
  for (;;) {
    const limit = maxCount - countOf(search)
    if (limit <= 0) return true
    const found = yield* lockKnown(search, { untilMs }, limit)
    if (found === null) continue
    const firstLate = found.findIndex((due) => needsTreatment(search, due))
    const hasProgress = yield* take(search, firstLate < 0 ? found : found.slice(0, firstLate))
    if (firstLate < 0) {
      if (found.length < limit || !hasProgress) return true
      continue
    }
    yield* takeEach(search, { afterMs: lateUntilMs, untilMs }, maxCount)
    if (!search.treatsLate) {
      search.hasLeft = true
      return true
    }
    if (countOf(search) >= maxCount && !isTurnOfMisfires(tx)) return true
    if (!(yield* treatLate(search, Math.min(lateUntilMs, untilMs)))) return false
  }
}

/** Takes what is due within a range, up to `maxCount` in all. */
function* takeEach(search: Search, range: Range, maxCount: number): SqlProgram<void> {
  for (;;) {
    const limit = maxCount - countOf(search)
    if (limit <= 0) return
    const found = yield* lockKnown(search, range, limit)
    if (found === null) continue
    const hasProgress = yield* take(search, found)
    if (found.length < limit || !hasProgress) return
  }
}

/** A clock that was put back must not keep late triggers waiting. */
function isTurnOfMisfires({ nowMs, session }: SqlTransaction): boolean {
  const { misfiresTreatedAtMs } = session.searchMemory
  return nowMs >= misfiresTreatedAtMs + misfireTurnMs || nowMs < misfiresTreatedAtMs
}

/** Carries out the misfire instructions of some late triggers; false when there may be more. */
function* treatLate(search: Search, lateUntilMs: EpochMs): SqlProgram<boolean> {
  const { tx } = search
  const late = yield* lockKnown(search, { untilMs: lateUntilMs }, misfiresPerTransaction)
  if (late === null) return true
  const untreated = late.filter((due) => needsTreatment(search, due)).map(({ key }) => key)
  const treated = yield* treatMisfires(tx, untreated, dueMisfiresPerTransaction)
  for (const key of treated) search.treated.set(key, true)
  return treated.length === untreated.length && late.length < misfiresPerTransaction
}

/**
 * When to look again although no signal comes; with `hasOverdueClaims`, at once. Until then, other nodes fire what they
 * have claimed, and give it its next time without a word; and transactions end that hold what is due now.
 */
function* nextLook(
  search: Search,
  untilMs: EpochMs,
): SqlProgram<Pick<SearchResult, 'lookAgainAtMs' | 'hasOverdueClaims'>> {
  const { session, nowMs } = search.tx
  const looks: EpochMs[] = search.hasLeft ? [nowMs] : []
  let hasOverdueClaims = false
  if (session.clustered) {
    const request = leavingOut(search, { untilMs })
    const { waitingMs, claimedMs } = yield* session.triggers.lookAhead(request, session.context.instanceId)
    notePassed(search, request, waitingMs)
    if (waitingMs !== null) looks.push(waitingMs <= nowMs ? nowMs : waitingMs + overdueClaimMs)
    if (claimedMs !== null && claimedMs <= untilMs) looks.push(claimedMs + overdueClaimMs)
    hasOverdueClaims =
      claimedMs !== null && claimedMs + overdueClaimMs <= nowMs && session.triggersOfJava === null
  }
  if (looks.length === 0) return { hasOverdueClaims }
  return { lookAgainAtMs: Math.max(nowMs, Math.min(...looks)), hasOverdueClaims }
}

interface LeavingOut extends LeftFor, Range {
  readonly leftJobs: readonly JobKey[]
}

function leavingOut(search: Search, range: Range): LeavingOut {
  const { nowMs, session } = search.tx
  const leftFor: LeftFor = {
    unknownJobTypes: [...search.unknownJobTypes],
    node: search.affinityIsUsed ? session.context.instanceId : null,
    fullGroups: search.rooms?.fullGroups ?? [],
  }
  const passedMs = session.searchMemory.passed.endFor(leftFor, nowMs)
  const afterMs = passedMs === null ? range.afterMs : Math.max(passedMs, range.afterMs ?? 0)
  return {
    ...range,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...leftFor,
    leftJobs: search.leftJobs.keys(),
  }
}

/** Until the first trigger that was found, or the end of the range, all is to be left. */
function notePassed(search: Search, request: LeavingOut, firstMs: EpochMs | null): void {
  const { passedVersion } = search
  const { nowMs, notes, session } = search.tx
  if (search.leftJobs.size > 0) return
  const untilMs = firstMs === null ? request.untilMs : firstMs - 1
  notes.add(() => {
    session.searchMemory.passed.note(untilMs, request, nowMs, passedVersion)
  })
}

/**
 * Locks what is due; null when something turned up that this node must leave alone, so that the search is to leave it
 * out: a job type that is not known here, or, for the first time, a job that only some nodes are to run.
 */
function* lockKnown(search: Search, range: Range, limit: number): SqlProgram<readonly DueTrigger[] | null> {
  const { triggers, context, clustered } = search.tx.session
  const request = leavingOut(search, range)
  const found = yield* lockReadable(search.tx, { ...request, limit })
  const hasStrangers = found.some(({ jobType }) => !context.knowsJobType(jobType))
  if (hasStrangers) {
    // There may be hundreds, one behind the other.
    const types = yield* triggers.dueJobTypes({ ...request, limit: triggersSearchedForTypes })
    for (const jobType of [...types, ...found.map((due) => due.jobType)]) {
      if (!context.knowsJobType(jobType)) search.unknownJobTypes.add(jobType)
    }
  }
  const isFirstForNodes =
    clustered && !search.affinityIsUsed && found.some(({ isForNodes }) => isForNodes === true)
  if (isFirstForNodes) search.affinityIsUsed = true
  // Of several nodes, one may have left out what another one has locked.
  if (!clustered && range.afterMs === undefined) notePassed(search, request, found[0]?.nextFireTimeMs ?? null)
  return hasStrangers || isFirstForNodes ? null : found
}

/** Locks what is due, without the rows that mean nothing: those are taken out of service, as many as stand in front. */
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
    signals.add('storeError', message, new JobPersistenceError(message, { code: 'ERR_BROKEN_ROW' }))
  }
}

interface Candidate {
  readonly due: DueTrigger
  readonly trigger: Trigger
  /** Null when it is to be claimed. */
  readonly jobDetail: JobDetail | null
}

/**
 * Claims what was found, or fires it, as far as it may start; what may not is left out from now on. False when nothing
 * came of it at all, so that to go on would be in vain.
 */
function* take(search: Search, found: readonly DueTrigger[]): SqlProgram<boolean> {
  const { leftJobs, faulty } = search
  const before = { left: leftJobs.size, faulty: faulty.size }
  const free = yield* withoutBusyJobs(search, found)
  const count = free.length === 0 ? 0 : yield* takeFree(search, free)
  return count > 0 || leftJobs.size > before.left || faulty.size > before.faulty
}

/** The same for triggers whose jobs are free; answers how many there is room for. */
function* takeFree(search: Search, free: readonly DueTrigger[]): SqlProgram<number> {
  const { tx } = search
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
  return candidates.length
}

/**
 * Whether a trigger is fired in this step. Not of a job that forbids concurrent execution: firing it blocks the
 * triggers beside it, and two nodes that hold some of each other's would wait for one another.
 */
function firesNow({ fires, tx }: Search, due: DueTrigger): boolean {
  return fires && due.nextFireTimeMs <= tx.nowMs && !due.nonConcurrent
}

/** Reads the triggers, and the jobs of those that are fired now. What cannot be read goes out of service. */
function* loadCandidates(search: Search, found: readonly DueTrigger[]): SqlProgram<readonly Candidate[]> {
  const { tx } = search
  const { triggers, jobs } = tx.session
  const jobKeys = found.filter((due) => firesNow(search, due)).map(({ jobKey }) => jobKey)
  const [stored, loaded] = yield* together(
    triggers.load(found.map(({ key }) => key)),
    jobs.load(uniqueKeys(jobKeys)),
  )
  const faulty: FaultyTrigger[] = [...stored.broken]
  const nameless: FaultyRow[] = []
  const candidates: Candidate[] = []
  for (const due of found) {
    const trigger = stored.found.get(due.key)?.trigger
    if (trigger === undefined) {
      if (!faulty.some(({ key }) => key.equals(due.key))) nameless.push(namelessRow(due))
      continue
    }
    if (!firesNow(search, due)) {
      candidates.push({ due, trigger, jobDetail: null })
      continue
    }
    const jobDetail = loaded.found.get(due.jobKey)
    if (jobDetail === undefined) faulty.push({ key: due.key, error: loaded.broken.get(due.jobKey) })
    // A job that came to forbid concurrency since it was looked at: its trigger is found by a later search.
    else if (!jobDetail.disallowConcurrentExecution) candidates.push({ due, trigger, jobDetail })
    else leaveJob(search, due.jobKey)
  }
  for (const { key } of [...faulty, ...nameless]) search.faulty.set(key, true)
  yield* putInError(tx, faulty)
  yield* putRowsInError(tx, nameless)
  return candidates
}

/** A row that is locked, and not there by the key that it seems to have: SQLite holds texts that are none. */
function namelessRow({ key, rowId }: DueTrigger): FaultyRow {
  const error = brokenRow(
    'Trigger',
    key,
    brokenValue('no row is found by this key. Correct or delete the row'),
  )
  return { key, rowId, error }
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
 * node holds one. The job's row is locked before the claims are looked at, so two nodes cannot both find none. The end
 * of a claim or an execution is announced; that of another transaction that holds the job's row is not.
 */
function* withoutBusyJobs(search: Search, found: readonly DueTrigger[]): SqlProgram<readonly DueTrigger[]> {
  const { jobs, firedTriggers } = search.tx.session
  const firstOfJob = new KeyMap<DueTrigger['jobKey'], DueTrigger>()
  for (const due of found) {
    if (due.nonConcurrent && !firstOfJob.has(due.jobKey)) firstOfJob.set(due.jobKey, due)
  }
  if (firstOfJob.size === 0) return found
  const locked = yield* jobs.tryLock(firstOfJob.keys())
  const free = new KeyMap<DueTrigger['jobKey'], true>()
  for (const { key } of locked) free.set(key, true)
  for (const key of firstOfJob.keys()) if (!free.has(key)) leaveJob(search, key)
  for (const key of yield* firedTriggers.busy(free.keys())) {
    free.delete(key)
    search.leftJobs.set(key, true)
  }
  return found.filter(
    (due) => !due.nonConcurrent || (free.has(due.jobKey) && firstOfJob.get(due.jobKey) === due),
  )
}

/** No signal comes when the job can be taken. */
function leaveJob(search: Search, key: JobKey): void {
  search.leftJobs.set(key, true)
  search.hasLeft = true
}
