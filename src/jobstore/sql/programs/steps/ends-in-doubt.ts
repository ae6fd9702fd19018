import type { CompletionAnswer, JobCompletion } from '../../../job-store.ts'
import type { TransactionOptions } from '../../kernel/sql-runner.ts'
import type { SqlSession } from '../../session/sql-session.ts'

/**
 * What a transaction that ends executions does about a commit of which the answer is lost. Run again, it passes over
 * what it has ended: that is as good, except for a firing that goes on elsewhere, because then no node calls the
 * listeners for its end. With such firings it asks until it knows. Where the database cannot tell, it is run again all
 * the same: a firing that is not in flight any more may have been ended by another node, which calls the listeners, and
 * nothing that is left says who it was.
 */
export function endsInDoubt(
  { context, firedTriggers }: SqlSession,
  completions: readonly JobCompletion[],
): Pick<TransactionOptions<CompletionAnswer>, 'onDoubt' | 'wasCommitted'> {
  if (!completions.some(({ isAwaited }) => isAwaited === true)) return { wasCommitted: 'runAgain' }
  return {
    onDoubt: 'patient',
    *wasCommitted({ locked, passedOver }) {
      const ended = completions.filter(
        (each) => each.isAwaited === true && !locked.includes(each) && !passedOver.includes(each),
      )
      const ids = ended.map(({ fireInstanceId }) => fireInstanceId)
      const inFlight = new Set(yield* firedTriggers.awaitedAmong(ids))
      for (const { fireInstanceId, trigger } of ended) {
        if (inFlight.has(fireInstanceId)) continue
        const fields = { triggerKey: trigger.key.toString(), fireInstanceId }
        context.logger.warn(fields, untold)
      }
      return false
    },
  }
}

const untold =
  'The database lost the answer to the end of a firing that went on elsewhere. The firing has ended; whether by this ' +
  'node or by another one is not known, so this node calls no listeners for it.'
