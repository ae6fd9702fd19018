import type { Clock } from '../../time/clock.ts'
import type { InterruptibleSleep } from '../../time/interruptible-sleep.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import { backoffMs } from './transaction-retry.ts'

export type CommitOutcome = 'committed' | 'aborted' | 'unknown'

export interface CommitInquiry {
  /** The transaction's number of 64 bits. */
  readonly xid: string
  readonly open: () => Promise<PostgresSession>
  readonly clock: Clock
  readonly sleep: InterruptibleSleep
  /** Gives up after this; null: asks until the sleep is ended for good. */
  readonly giveUpAfterMs: number | null
}

/**
 * Finds out what became of a transaction when the connection broke between COMMIT and its answer: asks the server, on
 * new connections, until it knows.
 */
export async function inquireCommit(inquiry: CommitInquiry): Promise<CommitOutcome> {
  const { clock, sleep, giveUpAfterMs, xid } = inquiry
  const startedMs = clock.elapsedMs()
  for (let attempt = 1; ; attempt++) {
    const outcome = await ask(inquiry)
    if (outcome !== 'in progress') return outcome
    // The server may still wait for a client that is gone: a transaction of which nobody hears the end has none.
    if (attempt > 1) await endTransaction(inquiry.open, xid)
    const spentMs = clock.elapsedMs() - startedMs
    if (giveUpAfterMs !== null && spentMs >= giveUpAfterMs) return 'unknown'
    if (!(await sleep.sleep(backoffMs(25, attempt)))) return 'unknown'
  }
}

async function ask({ open, xid }: CommitInquiry): Promise<CommitOutcome | 'in progress'> {
  let session: PostgresSession
  try {
    session = await open()
  } catch {
    return 'in progress'
  }
  try {
    const [result] = await session.query({
      text: 'SELECT pg_xact_status(CAST($1 AS xid8)) AS status',
      values: [xid],
    })
    session.release()
    const status = result?.rows[0]?.['status']
    // NULL: so long ago that the server has forgotten.
    return status === 'committed' || status === 'aborted' || status === 'in progress' ? status : 'unknown'
  } catch (error) {
    session.discard()
    // A server that has crashed has not seen a number of which nothing reached its disk; so nothing was committed.
    const isAhead = error instanceof DatabaseFailure && error.sqlState === '22023'
    return isAhead ? 'aborted' : 'in progress'
  }
}

/**
 * Ends the server process of a transaction to which the connection is lost, so that its locks do not outlive it. As
 * well as may be: without the right to do so, or without a server, the server's own time limits have to do.
 */
export async function endTransaction(open: () => Promise<PostgresSession>, xid: string): Promise<void> {
  let session: PostgresSession | null = null
  try {
    session = await open()
    // Found by the transaction, not by the process: that one may work for somebody else by now.
    const text =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = CAST(CAST($1 AS xid8) AS xid)'
    await session.query({ text, values: [xid] })
    session.release()
  } catch {
    session?.discard()
  }
}
