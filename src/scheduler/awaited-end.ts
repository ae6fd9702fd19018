import type { JobExecutionError } from '../core/errors.ts'
import type { AwaitedFate, CompletionWriter } from './completion-writer.ts'
import { type ConclusionParts, conclude } from './execution-conclusion.ts'
import type { ExecutionContext } from './execution-context.ts'
import { tellWasExecuted } from './execution-listeners.ts'
import {
  completionOf,
  failedOutside,
  type Outcome,
  type OutcomeParts,
  outcomeOf,
} from './execution-outcome.ts'
import { judge, type Verdict, type VerdictParts } from './verdict.ts'

/** How a firing ended elsewhere. */
export interface AwaitedEnd {
  readonly error: JobExecutionError | null
  readonly result: unknown
  /** Whether the retry policy of the job applies to a failure. */
  readonly retries: boolean
  /** Whether its deadline ended it, so that its result may still come. Default false. */
  readonly mayBeLate?: boolean
  /** Called when the store has taken this end, before listeners are told. */
  readonly onEnded?: () => void
  /** Called when all is decided, and the end waits only to be written. */
  readonly onHandedOver?: () => void
}

export interface AwaitedEndParts extends VerdictParts, OutcomeParts, ConclusionParts {
  readonly completions: CompletionWriter
}

/**
 * Ends an execution whose result is awaited. Others may be doing so, here and on other nodes: the one whose end the
 * store has taken calls the listeners afterwards, and the others call none. Resolves when they were called.
 */
export async function endAwaited(
  { error, mayBeLate = false, onEnded, onHandedOver, retries }: AwaitedEnd,
  context: ExecutionContext,
  parts: AwaitedEndParts,
): Promise<AwaitedFate> {
  let verdict: Verdict | null = null
  let outcome: Outcome
  try {
    verdict = await judge(error, context, { isAwaited: true, retries }, parts)
    outcome = outcomeOf(error, verdict, context, parts)
  } catch (thrown) {
    outcome = failedOutside(thrown, context, parts)
  }
  const completion = completionOf(outcome, context, true, parts)
  const writing = parts.completions.completeAwaited(mayBeLate ? { ...completion, mayBeLate } : completion)
  onHandedOver?.()
  const fate = await writing
  if (fate !== 'ended') return fate
  onEnded?.()
  if (completion.report !== undefined) parts.recorder.noteCompletion(context.bundle, completion.report)
  if (verdict !== null) await tellEnd(error, verdict, outcome, context, parts)
  return fate
}

async function tellEnd(
  error: JobExecutionError | null,
  verdict: Verdict,
  outcome: Outcome,
  context: ExecutionContext,
  parts: AwaitedEndParts,
): Promise<void> {
  context.runsAgain = verdict.again !== null
  try {
    await tellWasExecuted(error, context, parts.notifier)
    context.isRunning = false
    await conclude(error, verdict, outcome, context, parts)
  } catch (thrown) {
    failedOutside(thrown, context, parts)
  }
}
