import type { Clock } from '../../time/clock.ts'
import type { InterruptibleSleep } from '../../time/interruptible-sleep.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import { backoffMs } from './transaction-retry.ts'

/** By which the server can be asked after a transaction. */
export interface TransactionNumber {
  /** Of 64 bits. */
  readonly xid: string
  /** Where the number counts: a server that was promoted gives numbers of its own. Null where that cannot be known. */
  readonly timeline: string | null
}

/** The timeline on which a server writes, as eight digits; an error on one that only follows. */
export const timelineExpression = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

export type CommitOutcome = 'committed' | 'aborted' | 'unknown'

export interface CommitInquiry {
  readonly number: TransactionNumber
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
  const { clock, sleep, giveUpAfterMs, number } = inquiry
  const startedMs = clock.elapsedMs()
  for (let attempt = 1; ; attempt++) {
    const outcome = await ask(inquiry)
    if (outcome !== 'in progress') return outcome
    // The server may still wait for a client that is gone: a transaction of which nobody hears the end has none.
    if (attempt > 1) await endTransaction(inquiry.open, number)
    const spentMs = clock.elapsedMs() - startedMs
    if (giveUpAfterMs !== null && spentMs >= giveUpAfterMs) return 'unknown'
    if (!(await sleep.sleep(backoffMs(25, attempt)))) return 'unknown'
  }
}

async function ask({ open, number }: CommitInquiry): Promise<CommitOutcome | 'in progress'> {
  let session: PostgresSession
  try {
    session = await open()
  } catch {
    return 'in progress'
  }
  try {
    const [result] = await session.query({
      // The status is looked up only where the number counts: elsewhere it may be another transaction's, or none's yet.
      text: `SELECT CASE WHEN ${countsHere} THEN pg_xact_status(CAST($1 AS xid8)) ELSE 'elsewhere' END AS status`,
      values: valuesOf(number),
    })
    session.release()
    const status = result?.rows[0]?.['status']
    // NULL: so long ago that the server has forgotten. Elsewhere: a standby took over, which may have got the commit.
    return status === 'committed' || status === 'aborted' || status === 'in progress' ? status : 'unknown'
  } catch (error) {
    session.discard()
    // A server that has crashed has not seen a number of which nothing reached its disk; so nothing was committed.
    const isAhead = error instanceof DatabaseFailure && error.sqlState === '22023'
    return isAhead ? 'aborted' : 'in progress'
  }
}

/** Whether the server that is asked is on the timeline `$2`; true when that is not known. */
const countsHere = `CASE WHEN $2 = '' THEN true ELSE ${timelineExpression} = $2 END`

function valuesOf({ xid, timeline }: TransactionNumber): string[] {
  return [xid, timeline ?? '']
}

/**
 * Ends the server process of a transaction to which the connection is lost, so that its locks do not outlive it. As
 * well as may be: without the right to do so, or without a server, the server's own time limits have to do.
 */
export async function endTransaction(
  open: () => Promise<PostgresSession>,
  number: TransactionNumber,
): Promise<void> {
  let session: PostgresSession | null = null
  try {
    session = await open()
    // Found by the transaction, not by the process: that one may work for somebody else by now.
    const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE ${countsHere} AND backend_xid = CAST(CAST($1 AS xid8) AS xid)`
    await session.query({ text, values: valuesOf(number) })
    session.release()
  } catch {
    session?.discard()
  }
}
