import type { TriggerKey } from '../../../../core/key.ts'
import { isMadeByScheduler } from '../../../own-triggers.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { TriggerScope, Whose } from '../../tables/triggers/trigger-scopes.ts'
import { isMisfired, treatRead } from './misfires.ts'

/** How many triggers are read and written at a time when they are resumed. */
const lateAtATime = 500

/** Resumes the triggers of a scope; those that are late, or over, are looked at first. */
export function* resumeScope(
  tx: SqlTransaction,
  scope: TriggerScope,
  { whose, withoutMissed }: { readonly whose: Whose; readonly withoutMissed: boolean },
): SqlProgram<void> {
  const { scopes, context } = tx.session
  const latestMs = withoutMissed ? tx.nowMs : tx.nowMs - context.misfireThresholdMs
  const request = { latestMs, whateverInstruction: withoutMissed, limit: lateAtATime }
  let after: TriggerKey | null = null
  do {
    const late: readonly TriggerKey[] = yield* scopes.lockLate(scope, whose, { ...request, after })
    yield* treat(tx, late, withoutMissed)
    // A trigger that its instruction left late is skipped by the search, and fires late.
    after = late.length < lateAtATime ? null : (late.at(-1) ?? null)
  } while (after !== null)
  tx.offers.note(yield* scopes.earliestAfterResume(scope, whose))
  yield* scopes.resume(scope, whose)
}

function* treat(tx: SqlTransaction, keys: readonly TriggerKey[], withoutMissed: boolean): SqlProgram<void> {
  if (keys.length === 0) return
  const { found, broken } = yield* tx.session.triggers.load(keys)
  const stored = keys.flatMap((key) => found.get(key) ?? [])
  const late = stored.filter(({ trigger }) => trigger.mayFireAgain())
  for (const { trigger } of stored) {
    if (!trigger.mayFireAgain()) tx.signals.add('triggerFinalized', trigger)
  }
  const ordinary = { cause: 'paused', byPolicy: true } as const
  if (!withoutMissed) {
    yield* treatRead(tx, { stored: late, broken }, ordinary)
    return
  }
  // What the scheduler itself made is work that was begun, and no time of a schedule.
  const begun = late.filter(({ trigger }) => isMadeByScheduler(trigger))
  const left = late.filter(({ trigger }) => !isMadeByScheduler(trigger))
  yield* treatRead(tx, { stored: left, broken }, { cause: 'paused', byPolicy: false })
  const misfired = begun.filter(({ trigger }) => isMisfired(tx, trigger))
  yield* treatRead(tx, { stored: misfired, broken: [] }, ordinary)
}
