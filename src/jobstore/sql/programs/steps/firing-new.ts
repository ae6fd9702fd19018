import type { TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { FireSlot } from '../../../fire-slot.ts'
import type { TriggerFiredBundle } from '../../../fired-bundle.ts'
import { firingPartOf } from '../../../firing-part.ts'
import { nextTriggerState, type StoredTriggerState } from '../../../trigger-state.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { StoredTrigger } from '../../tables/triggers/trigger-table.ts'
import { bundleOf, newFiredRow } from './firings.ts'
import { isMisfired } from './misfires.ts'

/** A new trigger that may fire as it is stored. */
export interface MayFire {
  /** Its job, which is locked or new. */
  readonly jobDetail: JobDetail
  /** Reserved last, when nothing else is in the way. */
  readonly slot: FireSlot
}

/**
 * Fires new triggers as they are stored: their rows are written as those of triggers that have fired, and no other
 * session ever sees them wait. Only triggers that fire once, at once and without a look at anything else; all others
 * are stored as they are.
 */
export class NewFirings {
  readonly #tx: SqlTransaction
  readonly #candidates: KeyMap<TriggerKey, MayFire>
  readonly #rows: FiredRow[] = []
  readonly #bundles = new KeyMap<TriggerKey, TriggerFiredBundle>()

  constructor(tx: SqlTransaction, candidates: KeyMap<TriggerKey, MayFire>) {
    this.#tx = tx
    this.#candidates = candidates
  }

  /** What is to be stored of a new trigger that would be in this state. */
  stored(trigger: Trigger, state: StoredTriggerState): StoredTrigger {
    const { key, jobKey } = trigger
    const candidate = this.#candidates.get(key)
    if (candidate === undefined || jobKey === null || state !== 'WAITING') return { trigger, state }
    const { jobDetail, slot } = candidate
    // Later than the transaction began: it has asked the database since.
    const { session } = this.#tx
    const nowMs = Math.max(this.#tx.nowMs, session.context.clock.now(), slot.dueByMs)
    const now = { nowMs, session }
    if (!isPlain(now, trigger, jobDetail)) return { trigger, state }
    const fired = trigger.triggered(null)
    if (fired.nextFireTimeMs !== null || !slot.reserve()) return { trigger, state }
    const { requestsRecovery } = jobDetail
    const row = newFiredRow(now, trigger, { jobKey, nonConcurrent: false, requestsRecovery }, 'EXECUTING')
    this.#rows.push(row)
    this.#bundles.set(key, bundleOf(now, { trigger, fired, jobDetail, row, calendar: null }))
    return { trigger: fired, state: nextTriggerState('ACQUIRED', 'fireLast') ?? 'ERROR' }
  }

  /** Writes the executions of the triggers that fire. */
  *begin(): SqlProgram<void> {
    yield* this.#tx.session.firedTriggers.insert(this.#rows)
  }

  /** The firing of a trigger; null for one that was only stored. */
  bundleOf(key: TriggerKey): TriggerFiredBundle | null {
    return this.#bundles.get(key) ?? null
  }
}

/**
 * Whether a trigger is due and nothing else decides whether it fires here: no misfire instruction, no calendar, no
 * other execution of its job, no limit of its group, no choice of nodes.
 */
function isPlain(
  { nowMs, session }: Pick<SqlTransaction, 'nowMs' | 'session'>,
  trigger: Trigger,
  job: JobDetail,
): boolean {
  const { calendarName, jobDataMap, nextFireTimeMs } = trigger
  return (
    nextFireTimeMs !== null &&
    nextFireTimeMs <= nowMs &&
    !isMisfired({ nowMs, session }, trigger) &&
    calendarName === null &&
    firingPartOf(jobDataMap) === null &&
    session.context.triggerFamilies.of(trigger).storedType === 'SIMPLE' &&
    session.context.knowsJobType(job.jobType) &&
    !job.disallowConcurrentExecution &&
    job.sharding === null &&
    job.nodeAffinity === null &&
    session.groupLimits?.has(job.key.group) !== true
  )
}
