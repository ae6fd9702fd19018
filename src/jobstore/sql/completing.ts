import { unreachable } from '../../core/invariant.ts'
import type { JobKey } from '../../core/key.ts'
import type { JobCompletion } from '../job-store.ts'
import { nextTriggerState, type StoredTriggerState, type TriggerAction } from '../trigger-state.ts'
import { KeyMap } from './key-map.ts'
import { lockJobs, lockTriggers, storeNewTriggers } from './new-triggers.ts'
import { deleteOrphans } from './orphans.ts'
import { settleJobs, uniqueKeys } from './settling.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'
import type { TriggerRef } from './trigger-table.ts'

interface EndedExecution {
  readonly completion: JobCompletion
  readonly jobKey: JobKey
}

/** Ends executions: those that are still ours; a completion whose firing was taken from us writes nothing. */
export function* completeJobs(tx: SqlTransaction, completions: readonly JobCompletion[]): SqlProgram<void> {
  const { session } = tx
  const ids = completions.map(({ fireInstanceId }) => fireInstanceId)
  const rows = new Map(
    (yield* session.firedTriggers.delete(ids, 'EXECUTING')).map((row) => [row.fireInstanceId, row]),
  )
  const ended: EndedExecution[] = []
  for (const completion of completions) {
    const row = rows.get(completion.fireInstanceId)
    if (row !== undefined) ended.push({ completion, jobKey: row.jobKey ?? completion.jobDetail.key })
  }
  const losers = yield* carryOutInstructions(tx, ended)
  yield* writeData(tx, ended)
  yield* storeRetries(tx, ended)
  const nonConcurrent = ended.filter(
    ({ completion }) =>
      completion.jobDetail.disallowConcurrentExecution || rows.get(completion.fireInstanceId)?.nonConcurrent,
  )
  yield* settleJobs(
    tx,
    nonConcurrent.map(({ jobKey }) => jobKey),
  )
  yield* deleteOrphans(tx, losers)
}

/** Does what executions asked for; answers the jobs that lost a trigger by it. */
function* carryOutInstructions(
  tx: SqlTransaction,
  ended: readonly EndedExecution[],
): SqlProgram<readonly JobKey[]> {
  const triggers = new TriggersUnderLock()
  yield* triggers.lock(tx, ended)
  const losers: JobKey[] = []
  for (const { completion, jobKey } of ended) {
    const own = triggers.get(completion, jobKey)
    switch (completion.instruction) {
      case 'noop':
      case 'reExecuteJob':
        break
      case 'deleteTrigger':
        // A trigger that ended while it ran may have been rescheduled meanwhile.
        if (own === null || (completion.trigger.nextFireTimeMs === null && own.nextFireTimeMs !== null)) break
        triggers.delete(own)
        losers.push(jobKey)
        break
      case 'setTriggerComplete':
        if (own !== null) triggers.apply(own, 'complete')
        break
      case 'setAllJobTriggersComplete':
        for (const ref of triggers.ofJob(jobKey)) triggers.apply(ref, 'complete')
        break
      case 'setTriggerError':
        if (own !== null) failTrigger(tx, triggers, own)
        break
      case 'setAllJobTriggersError':
        for (const ref of triggers.ofJob(jobKey)) failTrigger(tx, triggers, ref)
        break
      default:
        unreachable(completion.instruction)
    }
  }
  yield* triggers.write(tx)
  return losers
}

function failTrigger(tx: SqlTransaction, triggers: TriggersUnderLock, ref: TriggerRef): void {
  if (!triggers.apply(ref, 'fail')) return
  tx.signals.triggerInError(
    ref.key,
    `An execution of job '${ref.jobKey.toString()}' could not be carried out.`,
  )
}

/** The triggers that a batch of completions is about: read once, changed in memory, written once. */
class TriggersUnderLock {
  readonly #refs = new KeyMap<TriggerRef['key'], TriggerRef>()
  readonly #states = new KeyMap<TriggerRef['key'], StoredTriggerState>()
  readonly #deleted = new KeyMap<TriggerRef['key'], TriggerRef>()
  #endsClaims = false

  /** The trigger that fired; null when it is gone or its key belongs to a trigger of another job by now. */
  get(completion: JobCompletion, jobKey: JobKey): TriggerRef | null {
    const ref = this.#refs.get(completion.trigger.key)
    return ref !== undefined && ref.jobKey.equals(jobKey) && !this.#deleted.has(ref.key) ? ref : null
  }

  *lock(tx: SqlTransaction, ended: readonly EndedExecution[]): SqlProgram<void> {
    const { triggers } = tx.session
    const steering = ended.filter(({ completion }) => !leavesTriggersAlone(completion))
    const single = steering.filter(({ completion }) => !concernsAllTriggers(completion))
    if (single.length > 0) {
      this.#keep(yield* triggers.lock(single.map(({ completion }) => completion.trigger.key)))
    }
    const all = steering.filter(({ completion }) => concernsAllTriggers(completion))
    if (all.length > 0) {
      this.#keep(yield* triggers.lockOfJobs(uniqueKeys(all.map(({ jobKey }) => jobKey))))
    }
  }

  ofJob(jobKey: JobKey): TriggerRef[] {
    return this.#refs.values().filter((ref) => ref.jobKey.equals(jobKey) && !this.#deleted.has(ref.key))
  }

  delete(ref: TriggerRef): void {
    this.#endsClaims ||= ref.state === 'ACQUIRED'
    this.#states.delete(ref.key)
    this.#deleted.set(ref.key, ref)
  }

  /** False when the action does nothing in the state of the trigger. */
  apply(ref: TriggerRef, action: TriggerAction): boolean {
    const before = this.#states.get(ref.key) ?? ref.state
    const after = nextTriggerState(before, action)
    if (after === null) return false
    this.#endsClaims ||= before === 'ACQUIRED'
    this.#states.set(ref.key, after)
    return true
  }

  *write(tx: SqlTransaction): SqlProgram<void> {
    const { triggers, firedTriggers } = tx.session
    const states = this.#states.keys().flatMap((key) => {
      const state = this.#states.get(key)
      return state === undefined ? [] : [{ key, state }]
    })
    if (states.length > 0) yield* triggers.setStates(states)
    if (this.#deleted.size > 0) yield* triggers.delete(this.#deleted.values())
    if (this.#endsClaims) yield* firedTriggers.deleteStaleClaims()
  }

  #keep(refs: readonly TriggerRef[]): void {
    for (const ref of refs) this.#refs.set(ref.key, ref)
  }
}

function leavesTriggersAlone({ instruction }: JobCompletion): boolean {
  return instruction === 'noop' || instruction === 'reExecuteJob'
}

function concernsAllTriggers({ instruction }: JobCompletion): boolean {
  return instruction === 'setAllJobTriggersComplete' || instruction === 'setAllJobTriggersError'
}

function* writeData(tx: SqlTransaction, ended: readonly EndedExecution[]): SqlProgram<void> {
  for (const { completion, jobKey } of ended) {
    if (completion.jobDataMap !== null) yield* tx.session.jobs.writeData(jobKey, completion.jobDataMap)
  }
}

/** Stores the triggers that run failed jobs again, of jobs that still exist. */
function* storeRetries(tx: SqlTransaction, ended: readonly EndedExecution[]): SqlProgram<void> {
  const retries = ended.flatMap(({ completion: { retryTrigger } }) => retryTrigger ?? [])
  if (retries.length === 0) return
  const jobs = yield* lockJobs(tx, uniqueKeys(retries.flatMap(({ jobKey }) => jobKey ?? [])))
  const stored = retries.filter(({ jobKey }) => jobKey !== null && jobs.has(jobKey))
  const existing = yield* lockTriggers(
    tx,
    stored.map(({ key }) => key),
  )
  yield* storeNewTriggers(tx, stored, { existing, jobs })
}
