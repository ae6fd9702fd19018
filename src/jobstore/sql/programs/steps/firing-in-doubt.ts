import type { TransactionOptions } from '../../kernel/sql-runner.ts'
import type { SqlSession } from '../../session/sql-session.ts'

/**
 * What a transaction that fires does about a commit of which the answer is lost, because without the answer the loop
 * would lose a firing or run it twice: it asks until it knows, and looks for the executions where the database cannot
 * tell. None of them has ended, because no node runs what was not answered.
 *
 * @param unlessFound what it means that none is in flight: that the transaction was not committed (false), or that it
 * cannot be told (null)
 */
export function firingInDoubt<Answer>(
  { firedTriggers }: SqlSession,
  idsOf: (answer: Answer) => readonly string[],
  unlessFound: false | null = false,
): Pick<TransactionOptions<Answer>, 'onDoubt' | 'wasCommitted'> {
  return {
    onDoubt: 'patient',
    *wasCommitted(answer) {
      return (yield* firedTriggers.isInFlight(idsOf(answer))) || unlessFound
    },
  }
}
