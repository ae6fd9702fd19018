import type { CompletionAnswer, JobCompletion } from '../../../job-store.ts'
import type { TransactionOptions } from '../../kernel/sql-runner.ts'
import type { SqlSession } from '../../session/sql-session.ts'

/**
 * What a transaction that ends executions does about a commit of which the answer is lost. Run again, it passes over
 * what it has ended: that is as good, except for a firing that goes on elsewhere, because then no node would call the
 * listeners for its end. With such firings it asks until it knows, and where the database cannot tell, it looks: what
 * was committed has left none of its executions in flight.
 */
export function endsInDoubt(
  { firedTriggers }: SqlSession,
  completions: readonly JobCompletion[],
): Pick<TransactionOptions<CompletionAnswer>, 'onDoubt' | 'wasCommitted'> {
  if (!completions.some(({ isAwaited }) => isAwaited === true)) return { wasCommitted: 'runAgain' }
  return {
    onDoubt: 'patient',
    *wasCommitted({ locked, passedOver }) {
      const ended = completions.filter((each) => !locked.includes(each) && !passedOver.includes(each))
      const idsOf = (areAwaited: boolean): string[] =>
        ended
          .filter(({ isAwaited = false }) => isAwaited === areAwaited)
          .map(({ fireInstanceId }) => fireInstanceId)
      if (yield* firedTriggers.isInFlight(idsOf(false))) return false
      return !(yield* firedTriggers.areAwaited(idsOf(true)))
    },
  }
}
