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
import type { SqlProgram } from './statement.ts'
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
  const rows = new Map<string, FiredRow>()
  for (const row of yield* session.firedTriggers.lock(claims.map(({ fireInstanceId }) => fireInstanceId))) {
    if (row.state === 'ACQUIRED') rows.set(row.fireInstanceId, row)
  }
  if (rows.size === 0) return []
  const acquired = new KeyMap<Trigger['key'], JobKey>()
  for (const ref of yield* session.triggers.lock(Array.from(rows.values(), (row) => row.triggerKey))) {
    if (ref.state === 'ACQUIRED') acquired.set(ref.key, ref.jobKey)
  }
  const jobs = yield* session.jobs.load(uniqueKeys(acquired.values()))
  const nonConcurrent = jobs.found.values().filter((job) => job.disallowConcurrentExecution)
  // Whoever stores a trigger of such a job locks it too, so that none slips in beside the block below.
  if (nonConcurrent.length > 0) yield* session.jobs.lock(nonConcurrent.map(({ key }) => key))
  const held: HeldClaim[] = []
  const faulty: FaultyTrigger[] = []
  for (const claim of claims) {
    const row = rows.get(claim.fireInstanceId)
    if (row?.triggerKey.equals(claim.trigger.key) !== true) continue
    const jobKey = acquired.get(row.triggerKey)
    if (jobKey === undefined || !rows.delete(claim.fireInstanceId)) continue
    const jobDetail = jobs.found.get(jobKey)
    if (jobDetail !== undefined) held.push({ claim, row, jobDetail })
    else faulty.push({ key: row.triggerKey, error: jobs.broken.get(jobKey) })
  }
  yield* fail(tx, faulty)
  return held
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
