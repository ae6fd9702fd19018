import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { TriggerFiredBundle } from '../../../fired-bundle.ts'
import type { AcquiredTrigger, TriggerFiredResult } from '../../../job-store.ts'
import { isSplit } from '../../../split-firing.ts'
import { nextTriggerState, type StoredTriggerState } from '../../../trigger-state.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { JobRef, LoadedJobs } from '../../tables/jobs/job-table.ts'
import type { AdvancedTrigger, TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { calendarsOf } from '../steps/calendar-lookup.ts'
import { endStaleClaims, noteEndedOfGroups } from '../steps/ended-claims.ts'
import { type FaultyTrigger, putInError, tellFaultyFirings } from '../steps/faulty-triggers.ts'
import { bundleOf, type FirableTrigger, type Firing } from '../steps/firings.ts'
import { type TriedLocks, tryLockJobs, tryLockTriggers } from '../steps/passing-over.ts'
import { uniqueKeys } from '../steps/settling.ts'
import { type SplitCircumstances, splitCircumstances, splitFirings } from './splitting.ts'

const gone: TriggerFiredResult = Object.freeze({ kind: 'gone' })
const lockedByOthers: TriggerFiredResult = Object.freeze({ kind: 'locked' })

/**
 * Turns claims into executions: one answer for each claim, in the same order. Claims that need a row which another
 * session has locked are passed over and stay claims.
 */
export function* fireTriggers(
  tx: SqlTransaction,
  claims: readonly AcquiredTrigger[],
): SqlProgram<readonly TriggerFiredResult[]> {
  const { held, locked, jobs, circumstances } = yield* heldClaims(tx, claims)
  const { firings, faulty } = yield* compute(tx, held)
  yield* fail(tx, faulty)
  const isToSplit = ({ jobDetail, trigger }: Firing): boolean => isSplit(jobDetail, trigger.key)
  const whole = firings.filter((firing) => !isToSplit(firing))
  const split = firings.filter(isToSplit)
  yield* begin(tx, whole)
  yield* advance(tx, firings, 'ACQUIRED')
  const bundles = new Map(whole.map((firing) => [firing.row.fireInstanceId, bundleOf(tx, firing)]))
  if (circumstances !== null && split.length > 0) {
    const firstItems = yield* splitFirings(tx, split, jobs, circumstances)
    yield* tx.session.firedTriggers.insert(executionsOf(tx, firstItems))
    for (const item of firstItems) bundles.set(item.firingId, bundleOf(tx, { ...item, calendar: null }))
  }
  return claims.map(({ fireInstanceId }) => {
    const bundle = bundles.get(fireInstanceId)
    // A claim that is named twice fires once.
    bundles.delete(fireInstanceId)
    if (bundle !== undefined) return { kind: 'fired', bundle }
    return locked.has(fireInstanceId) ? lockedByOthers : gone
  })
}

/** The fire instance ids of the executions among the answers: an item has one of its own. */
export function firedIds(results: readonly TriggerFiredResult[]): readonly string[] {
  return results.flatMap((result) => (result.kind === 'fired' ? [result.bundle.fireInstanceId] : []))
}

/** Whether a claim is over, and is not what executes now: nothing is to be done with it any more. */
export function hasEnded(
  { fireInstanceId }: AcquiredTrigger,
  result: TriggerFiredResult | undefined,
): boolean {
  return result?.kind === 'fired' ? result.bundle.fireInstanceId !== fireInstanceId : result?.kind === 'gone'
}

/** Fires waiting triggers that this transaction has locked, and whose jobs may start, without claiming them first. */
export function* fireUnclaimed(
  tx: SqlTransaction,
  triggers: readonly FirableTrigger[],
): SqlProgram<readonly TriggerFiredBundle[]> {
  const { firings, faulty } = yield* compute(tx, triggers)
  yield* putInError(tx, faulty)
  yield* tx.session.firedTriggers.insert(executionsOf(tx, firings))
  yield* advance(tx, firings, 'WAITING')
  return firings.map((firing) => bundleOf(tx, firing))
}

/** The claims that can be fired, and the fire instance ids of those that another session's lock prevents. */
interface HeldClaims {
  readonly held: readonly FirableTrigger[]
  readonly locked: ReadonlySet<string>
  /** Locked rows of jobs; among them all whose firings are split. */
  readonly jobs: KeyMap<JobKey, JobRef>
  /** Null where no firing is to be split. */
  readonly circumstances: SplitCircumstances | null
}

/** What is locked and read for claims. */
interface ClaimRows {
  /** By fire instance id. */
  readonly rows: Map<string, FiredRow>
  readonly locked: Set<string>
  readonly triggers: TriedLocks<TriggerKey, TriggerRef>
  readonly details: LoadedJobs
  /** Jobs that are locked already. */
  readonly own: KeyMap<JobKey, JobRef>
  /** Null where no firing is to be split. */
  readonly circumstances: SplitCircumstances | null
}

function* readClaims(tx: SqlTransaction, claims: readonly AcquiredTrigger[]): SqlProgram<ClaimRows> {
  // The keys of claims are known, and all but those of jobs that forbid concurrent execution, which are locked before
  // they are read, are looked up in the round trip that locks the claims: what fires on time waits for it.
  const toSplit = claims.filter(({ isSplit: toBeSplit }) => toBeSplit === true)
  const jobsToSplit = jobKeysOf(toSplit)
  const early = claims.filter(({ isSplit: toBeSplit, isConcurrent }) => {
    return toBeSplit === true || isConcurrent === true
  })
  const isEarly = new KeySet(early.map(({ trigger }) => trigger.key))
  const [{ rows, locked }, splitJobs, earlyTriggers, earlyDetails, circumstances] = yield* together(
    lockClaims(tx, claims),
    tryLockJobs(tx, jobsToSplit),
    tryLockTriggers(tx, isEarly.keys()),
    tx.session.jobs.load(jobKeysOf(early)),
    splitCircumstances(tx, jobsToSplit),
  )
  const all = Array.from(rows.values())
  for (const key of splitJobs.locked.keys()) earlyDetails.found.delete(key)
  // Jobs are locked before triggers, as everywhere; the claims name their jobs.
  const nonConcurrent = yield* tryLockJobs(
    tx,
    uniqueKeys(all.flatMap((row) => (row.nonConcurrent ? (row.jobKey ?? []) : []))).filter(
      (key) => !splitJobs.found.has(key) && !splitJobs.locked.has(key),
    ),
  )
  const jobs = bothLocks(splitJobs, nonConcurrent)
  for (const { fireInstanceId, jobKey } of all) {
    if (jobKey !== null && jobs.locked.has(jobKey)) locked.add(fireInstanceId)
  }
  const split = new KeySet(toSplit.map(({ trigger }) => trigger.key))
  const rest = all.filter(({ fireInstanceId, triggerKey, nonConcurrent: isNonConcurrent }) => {
    if (locked.has(fireInstanceId) || split.has(triggerKey)) return false
    return isNonConcurrent || !isEarly.has(triggerKey)
  })
  const [triggers, details] = yield* together(
    tryLockTriggers(
      tx,
      rest.map(({ triggerKey }) => triggerKey),
    ),
    tx.session.jobs.load(uniqueKeys(rest.flatMap(({ jobKey }) => jobKey ?? []))),
  )
  return {
    rows,
    locked,
    triggers: bothLocks(earlyTriggers, triggers),
    details: {
      found: bothOf(earlyDetails.found, details.found),
      broken: bothOf(earlyDetails.broken, details.broken),
    },
    own: jobs.found,
    circumstances,
  }
}

function jobKeysOf(claims: readonly AcquiredTrigger[]): readonly JobKey[] {
  return uniqueKeys(claims.flatMap(({ trigger }) => trigger.jobKey ?? []))
}

/**
 * While a claim exists its trigger has not changed: every operation that takes a trigger out of ACQUIRED deletes the
 * claim. So the trigger is not read again.
 */
function* heldClaims(tx: SqlTransaction, claims: readonly AcquiredTrigger[]): SqlProgram<HeldClaims> {
  const { rows, locked, triggers, details: jobs, own, circumstances } = yield* readClaims(tx, claims)
  if (rows.size === 0) return { held: [], locked, jobs: new KeyMap(), circumstances: null }
  const split = Array.from(rows.values()).flatMap(({ fireInstanceId, jobKey, triggerKey }) => {
    const job = jobKey === null || locked.has(fireInstanceId) ? undefined : jobs.found.get(jobKey)
    return job !== undefined && isSplit(job, triggerKey) ? job.key : []
  })
  const busy = yield* lockBusyJobs(tx, jobs.found.values(), { split, own })
  const held: FirableTrigger[] = []
  const faulty: FaultyTrigger[] = []
  const idle: IdleClaim[] = []
  const started = new KeySet<JobKey>()
  for (const claim of claims) {
    const row = rows.get(claim.fireInstanceId)
    if (row === undefined || !rows.delete(claim.fireInstanceId) || locked.has(claim.fireInstanceId)) continue
    const ref = triggers.found.get(row.triggerKey)
    const jobKey = ref !== undefined && isAsClaimed(ref, claim) ? ref.jobKey : undefined
    const jobDetail = jobKey === undefined ? undefined : jobs.found.get(jobKey)
    if (triggers.locked.has(row.triggerKey) || (jobKey !== undefined && busy.locked.has(jobKey))) {
      locked.add(claim.fireInstanceId)
    } else if (jobKey === undefined) {
      idle.push({ row, state: null })
    } else if (row.fault !== undefined) {
      // The claim is written anew, as a readable row.
      idle.push({ row, state: 'WAITING' })
    } else if (jobDetail === undefined) {
      faulty.push({ key: row.triggerKey, error: jobs.broken.get(jobKey) })
    } else if (busy.executing.has(jobKey)) {
      idle.push({ row, state: nextTriggerState('WAITING', 'block') })
    } else if (!tx.session.context.knowsJobType(jobDetail.jobType)) {
      // As after a Java node has replaced the job: it leaves the claims of others. Nodes that know the type are told.
      idle.push({ row, state: 'WAITING' })
      tx.offers.note(claim.trigger.nextFireTimeMs)
    } else if (started.has(jobKey) || (isSplit(jobDetail, row.triggerKey) && claim.isSplit !== true)) {
      // A job that is sharded since it was claimed: the next search finds it as such.
      idle.push({ row, state: 'WAITING' })
    } else {
      held.push({ trigger: claim.trigger, row, jobDetail })
      if (jobDetail.disallowConcurrentExecution) started.add(jobKey)
    }
  }
  yield* fail(tx, faulty)
  yield* giveUp(tx, idle)
  return { held, locked, jobs: busy.found, circumstances }
}

/**
 * Java nodes leave the claims on triggers that they change: such a trigger may have been claimed again since then, and
 * may have fired.
 */
function isAsClaimed({ state, nextFireTimeMs }: TriggerRef, { trigger }: AcquiredTrigger): boolean {
  return state === 'ACQUIRED' && nextFireTimeMs === trigger.nextFireTimeMs
}

function bothLocks<Key extends JobKey | TriggerKey, Ref>(
  one: TriedLocks<Key, Ref>,
  two: TriedLocks<Key, Ref>,
): TriedLocks<Key, Ref> {
  return {
    found: bothOf(one.found, two.found),
    locked: new KeySet([...one.locked.keys(), ...two.locked.keys()]),
  }
}

function bothOf<Key extends JobKey | TriggerKey, Value>(
  one: KeyMap<Key, Value>,
  two: KeyMap<Key, Value>,
): KeyMap<Key, Value> {
  if (one.size === 0) return two
  for (const key of two.keys()) {
    const value = two.get(key)
    if (value !== undefined) one.set(key, value)
  }
  return one
}

/** The rows of claims that were not ended, by fire instance id, and which of them another session has locked. */
function* lockClaims(
  { session: { firedTriggers } }: SqlTransaction,
  claims: readonly AcquiredTrigger[],
): SqlProgram<{ readonly rows: Map<string, FiredRow>; readonly locked: Set<string> }> {
  const triggerKeys = new Map(claims.map(({ fireInstanceId, trigger }) => [fireInstanceId, trigger.key]))
  const rows = new Map<string, FiredRow>()
  const { found, locked } = yield* firedTriggers.tryLock([...triggerKeys.keys()], 'ACQUIRED')
  for (const row of found) {
    const isClaim = triggerKeys.get(row.fireInstanceId)?.equals(row.triggerKey)
    if (isClaim === true) rows.set(row.fireInstanceId, row)
  }
  return { rows, locked: new Set(locked) }
}

/** Jobs that may not start now. */
interface BusyJobs {
  readonly executing: KeySet<JobKey>
  /** Another session has locked their rows. */
  readonly locked: KeySet<JobKey>
  /** The rows that are locked here. */
  readonly found: KeyMap<JobKey, JobRef>
}

/**
 * The jobs that may not start now, because they forbid concurrency and run. There can be several claims on such a job
 * when it allowed concurrency while they were made; only under its lock is it certain what runs. Storing a trigger of
 * such a job takes the same lock, so that no unblocked trigger is added meanwhile. Jobs whose firings are split are
 * locked likewise, because the ends of their items look at the same open firings.
 */
function* lockBusyJobs(
  tx: SqlTransaction,
  found: readonly JobDetail[],
  { split, own }: { readonly split: readonly JobKey[]; readonly own: KeyMap<JobKey, JobRef> },
): SqlProgram<BusyJobs> {
  const keys = found.filter((job) => job.disallowConcurrentExecution).map(({ key }) => key)
  const others = yield* tryLockJobs(
    tx,
    uniqueKeys([...keys, ...split]).filter((key) => !own.has(key)),
  )
  const executing = new KeySet(keys.length > 0 ? yield* tx.session.firedTriggers.executing(keys) : [])
  const all = new KeyMap<JobKey, JobRef>()
  for (const ref of [...own.values(), ...others.found.values()]) all.set(ref.key, ref)
  return { executing, locked: others.locked, found: all }
}

/** A claim that is not fired, and the state that its trigger gets; null when that was changed before. */
interface IdleClaim {
  readonly row: FiredRow
  readonly state: StoredTriggerState | null
}

function* giveUp(tx: SqlTransaction, claims: readonly IdleClaim[]): SqlProgram<void> {
  if (claims.length === 0) return
  const { session, offers } = tx
  const { triggers, firedTriggers, scopes } = session
  tellFaultyFirings(
    tx,
    claims.map(({ row }) => row),
  )
  yield* triggers.setStates(
    claims.flatMap(({ row, state }) => (state === null ? [] : [{ key: row.triggerKey, state }])),
  )
  yield* firedTriggers.delete(
    claims.map(({ row }) => row.fireInstanceId),
    'ACQUIRED',
  )
  noteEndedOfGroups(
    tx,
    claims.map(({ row }) => row),
  )
  // Other triggers of a job that forbids concurrent execution may fire now that its claim has ended.
  const hiding = claims.flatMap(({ row: { nonConcurrent, jobKey } }) => (nonConcurrent ? (jobKey ?? []) : []))
  offers.note(yield* scopes.earliestOfJobs(uniqueKeys(hiding)))
}

function* compute(
  tx: SqlTransaction,
  triggers: readonly FirableTrigger[],
): SqlProgram<{ readonly firings: readonly Firing[]; readonly faulty: readonly FaultyTrigger[] }> {
  const calendarOf = yield* calendarsOf(
    tx,
    triggers.map(({ trigger }) => trigger),
  )
  const firings: Firing[] = []
  const faulty: FaultyTrigger[] = []
  for (const { trigger, jobDetail, row, rowId } of triggers) {
    try {
      const calendar = calendarOf(trigger)
      // Field by field, because spreading takes ten times as long, and this is done for each firing.
      firings.push({ trigger, jobDetail, row, rowId, calendar, fired: trigger.triggered(calendar) })
    } catch (error) {
      faulty.push({ key: trigger.key, error })
    }
  }
  return { firings, faulty }
}

function* begin(tx: SqlTransaction, firings: readonly Firing[]): SqlProgram<void> {
  const { firedTriggers } = tx.session
  const executions = executionsOf(tx, firings)
  yield* firedTriggers.begin(executions, tx.nowMs)
  // The job may have been replaced since it was claimed.
  yield* firedTriggers.amend(
    executions.filter(({ nonConcurrent, requestsRecovery }, index) => {
      const row = firings[index]?.row
      return row?.nonConcurrent !== nonConcurrent || row.requestsRecovery !== requestsRecovery
    }),
  )
}

function executionsOf({ nowMs }: SqlTransaction, firings: readonly FirableTrigger[]): FiredRow[] {
  return firings.map(({ row, jobDetail }) => ({
    fireInstanceId: row.fireInstanceId,
    triggerKey: row.triggerKey,
    jobKey: row.jobKey,
    instanceId: row.instanceId,
    state: 'EXECUTING',
    firedTimeMs: nowMs,
    plannedTimeMs: row.plannedTimeMs,
    priority: row.priority,
    nonConcurrent: jobDetail.disallowConcurrentExecution,
    requestsRecovery: jobDetail.requestsRecovery,
  }))
}

/** Writes the new state of the triggers, and blocks those of jobs that forbid concurrent execution. */
function* advance(
  { session: { triggers }, offers }: SqlTransaction,
  firings: readonly Firing[],
  before: StoredTriggerState,
): SqlProgram<void> {
  for (const { fired } of firings) offers.noteRearmed(fired.nextFireTimeMs)
  yield* triggers.advance(
    firings.map(
      (firing): AdvancedTrigger => ({
        trigger: firing.fired,
        state: stateAfterFire(firing),
        rowId: firing.rowId,
      }),
    ),
    before,
  )
  const blocking = firings.filter(({ jobDetail }) => jobDetail.disallowConcurrentExecution)
  yield* triggers.block(blocking.map(({ jobDetail }) => jobDetail.key))
}

function stateAfterFire({ jobDetail, fired }: Firing): StoredTriggerState {
  const after = nextTriggerState('ACQUIRED', fired.nextFireTimeMs === null ? 'fireLast' : 'fire') ?? 'ERROR'
  return jobDetail.disallowConcurrentExecution ? (nextTriggerState(after, 'block') ?? after) : after
}

function* fail(tx: SqlTransaction, faulty: readonly FaultyTrigger[]): SqlProgram<void> {
  if (faulty.length === 0) return
  yield* putInError(tx, faulty)
  yield* endStaleClaims(tx)
}
