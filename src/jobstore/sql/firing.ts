import type { JobKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { AcquiredTrigger, TriggerFiredBundle, TriggerFiredResult } from '../job-store.ts'
import { nextTriggerState, type StoredTriggerState } from '../trigger-state.ts'
import { calendarsOf } from './calendar-lookup.ts'
import { type FaultyTrigger, putInError } from './faulty-triggers.ts'
import type { FiredRow } from './fired-trigger-table.ts'
import { KeyMap } from './key-map.ts'
import { uniqueKeys } from './settling.ts'
import type { SqlTransaction } from './sql-session.ts'
import { type SqlProgram, together } from './statement.ts'
import type { StoredTrigger } from './trigger-table.ts'

const gone: TriggerFiredResult = Object.freeze({ kind: 'gone' })

/** A claim that is still ours, with everything that firing it needs. */
interface HeldClaim {
  readonly claim: AcquiredTrigger
  readonly row: FiredRow
  readonly jobDetail: JobDetail
}

interface Firing {
  readonly claim: HeldClaim
  readonly fired: Trigger
  readonly calendar: Calendar | null
}

/** Turns claims into executions: one answer for each claim, in the same order. */
export function* fireTriggers(
  tx: SqlTransaction,
  claims: readonly AcquiredTrigger[],
): SqlProgram<readonly TriggerFiredResult[]> {
  const held = yield* heldClaims(tx, claims)
  const firings = yield* compute(tx, held)
  yield* write(tx, firings)
  const bundles = new Map(firings.map((firing) => [firing.claim.row.fireInstanceId, bundleOf(tx, firing)]))
  return claims.map(({ fireInstanceId }) => {
    const bundle = bundles.get(fireInstanceId)
    // A claim that is named twice fires once.
    bundles.delete(fireInstanceId)
    return bundle === undefined ? gone : { kind: 'fired', bundle }
  })
}

/**
 * While a claim is held its trigger cannot have changed: whatever takes a trigger out of ACQUIRED deletes the claim.
 * So the trigger that was claimed need not be read again.
 */
function* heldClaims(
  tx: SqlTransaction,
  claims: readonly AcquiredTrigger[],
): SqlProgram<readonly HeldClaim[]> {
  const { session } = tx
  const rows = yield* lockClaims(tx, claims)
  if (rows.size === 0) return []
  const locked = yield* lockNonConcurrentJobs(tx, [...rows.values()])
  const [refs, jobs] = yield* together(
    session.triggers.lock(Array.from(rows.values(), (row) => row.triggerKey)),
    session.jobs.load(uniqueKeys(Array.from(rows.values()).flatMap(({ jobKey }) => jobKey ?? []))),
  )
  const acquired = new KeyMap<Trigger['key'], JobKey>()
  for (const ref of refs) if (ref.state === 'ACQUIRED') acquired.set(ref.key, ref.jobKey)
  const executing = yield* lockBusyJobs(tx, jobs.found.values(), locked)
  const held: HeldClaim[] = []
  const faulty: FaultyTrigger[] = []
  const idle: IdleClaim[] = []
  const started = new KeyMap<JobKey, true>()
  for (const claim of claims) {
    const row = rows.get(claim.fireInstanceId)
    if (row === undefined || !rows.delete(claim.fireInstanceId)) continue
    const jobKey = acquired.get(row.triggerKey)
    const jobDetail = jobKey === undefined ? undefined : jobs.found.get(jobKey)
    if (jobKey === undefined) {
      idle.push({ row, state: null })
    } else if (jobDetail === undefined) {
      faulty.push({ key: row.triggerKey, error: jobs.broken.get(jobKey) })
    } else if (executing.has(jobKey)) {
      idle.push({ row, state: nextTriggerState('WAITING', 'block') })
    } else if (started.has(jobKey)) {
      idle.push({ row, state: 'WAITING' })
    } else {
      held.push({ claim, row, jobDetail })
      if (jobDetail.disallowConcurrentExecution) started.set(jobKey, true)
    }
  }
  yield* fail(tx, faulty)
  yield* giveUp(tx, idle)
  return held
}

/** The rows of claims that nobody ended, by fire instance id. */
function* lockClaims(
  { session: { firedTriggers } }: SqlTransaction,
  claims: readonly AcquiredTrigger[],
): SqlProgram<Map<string, FiredRow>> {
  const triggerKeys = new Map(claims.map(({ fireInstanceId, trigger }) => [fireInstanceId, trigger.key]))
  const rows = new Map<string, FiredRow>()
  for (const row of yield* firedTriggers.lock([...triggerKeys.keys()])) {
    const isClaim = row.state === 'ACQUIRED' && triggerKeys.get(row.fireInstanceId)?.equals(row.triggerKey)
    if (isClaim === true) rows.set(row.fireInstanceId, row)
  }
  return rows
}

/** Jobs are locked before triggers, as everywhere; the claims say of which jobs they are. */
function* lockNonConcurrentJobs(
  { session }: SqlTransaction,
  claims: readonly FiredRow[],
): SqlProgram<KeyMap<JobKey, true>> {
  const keys = new KeyMap<JobKey, true>()
  for (const { nonConcurrent, jobKey } of claims) if (nonConcurrent && jobKey !== null) keys.set(jobKey, true)
  if (keys.size > 0) yield* session.jobs.lock(keys.keys())
  return keys
}

/**
 * Which of the jobs may not start now, because they forbid concurrency and run. Several claims on one such job come
 * about when it allowed concurrency while they were made; only here, under its lock, it is sure what runs. Whoever
 * stores a trigger of such a job locks it too, so that none slips in beside the block below.
 */
function* lockBusyJobs(
  { session }: SqlTransaction,
  found: readonly JobDetail[],
  locked: KeyMap<JobKey, true>,
): SqlProgram<KeyMap<JobKey, true>> {
  const busy = new KeyMap<JobKey, true>()
  const keys = found.filter((job) => job.disallowConcurrentExecution).map(({ key }) => key)
  if (keys.length === 0) return busy
  const others = keys.filter((key) => !locked.has(key))
  if (others.length > 0) yield* session.jobs.lock(others)
  for (const key of yield* session.firedTriggers.executing(keys)) busy.set(key, true)
  return busy
}

/** A claim that is not carried out, and the state that it leaves its trigger in; null when that was changed before. */
interface IdleClaim {
  readonly row: FiredRow
  readonly state: StoredTriggerState | null
}

function* giveUp({ session }: SqlTransaction, claims: readonly IdleClaim[]): SqlProgram<void> {
  if (claims.length === 0) return
  const { triggers, firedTriggers } = session
  yield* triggers.setStates(
    claims.flatMap(({ row, state }) => (state === null ? [] : [{ key: row.triggerKey, state }])),
  )
  yield* firedTriggers.delete(
    claims.map(({ row }) => row.fireInstanceId),
    'ACQUIRED',
  )
}

function* compute(tx: SqlTransaction, held: readonly HeldClaim[]): SqlProgram<readonly Firing[]> {
  const calendarOf = yield* calendarsOf(
    tx,
    held.map(({ claim }) => claim.trigger),
  )
  const firings: Firing[] = []
  const faulty: FaultyTrigger[] = []
  for (const claim of held) {
    const { trigger } = claim.claim
    try {
      const calendar = calendarOf(trigger)
      firings.push({ claim, calendar, fired: trigger.triggered(calendar) })
    } catch (error) {
      faulty.push({ key: trigger.key, error })
    }
  }
  yield* fail(tx, faulty)
  return firings
}

function* write(tx: SqlTransaction, firings: readonly Firing[]): SqlProgram<void> {
  if (firings.length === 0) return
  const { session, nowMs } = tx
  yield* session.firedTriggers.begin(
    firings.map(({ claim: { row, jobDetail } }) => ({
      ...row,
      firedTimeMs: nowMs,
      nonConcurrent: jobDetail.disallowConcurrentExecution,
      requestsRecovery: jobDetail.requestsRecovery,
    })),
  )
  yield* session.triggers.advance(
    firings.map(
      ({ claim, fired }): StoredTrigger => ({ trigger: fired, state: stateAfterFire(claim, fired) }),
    ),
  )
  const blocking = firings.filter(({ claim }) => claim.jobDetail.disallowConcurrentExecution)
  if (blocking.length === 0) return
  yield* session.triggers.applyToJobs(
    'block',
    blocking.map(({ claim }) => claim.jobDetail.key),
  )
}

function stateAfterFire({ jobDetail }: HeldClaim, fired: Trigger): StoredTriggerState {
  const after = nextTriggerState('ACQUIRED', fired.nextFireTimeMs === null ? 'fireLast' : 'fire') ?? 'ERROR'
  return jobDetail.disallowConcurrentExecution ? (nextTriggerState(after, 'block') ?? after) : after
}

function* fail(tx: SqlTransaction, faulty: readonly FaultyTrigger[]): SqlProgram<void> {
  if (faulty.length === 0) return
  yield* putInError(tx, faulty)
  yield* tx.session.firedTriggers.deleteStaleClaims()
}

function bundleOf(tx: SqlTransaction, { claim, fired, calendar }: Firing): TriggerFiredBundle {
  const { trigger: before, fireInstanceId } = claim.claim
  return {
    fireInstanceId,
    jobDetail: claim.jobDetail,
    trigger: fired,
    calendar,
    fireTimeMs: tx.nowMs,
    scheduledFireTimeMs: claim.row.plannedTimeMs,
    previousFireTimeMs: before.previousFireTimeMs,
    nextFireTimeMs: fired.nextFireTimeMs,
  }
}
