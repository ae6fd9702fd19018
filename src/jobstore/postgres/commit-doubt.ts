import type { Clock } from '../../time/clock.ts'
import type { InterruptibleSleep } from '../../time/interruptible-sleep.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import { backoffMs } from './transaction-retry.ts'

/** What identifies a transaction when the server is asked about it. */
export interface TransactionNumber {
  /** The transaction number, 64 bits. */
  readonly xid: string
  /**
   * The timeline on which the number is valid: a standby that was promoted gives its own numbers. Null where it cannot
   * be known.
   */
  readonly timeline: string | null
}

/** The timeline on which a server writes, as eight digits; an error on a standby. */
export const timelineExpression = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

export type CommitOutcome = 'committed' | 'aborted' | 'unknown'

export interface CommitInquiry {
  readonly number: TransactionNumber
  readonly open: () => Promise<PostgresSession>
  readonly clock: Clock
  readonly sleep: InterruptibleSleep
  /** Gives up after this many milliseconds; null: asks until the sleep is closed. */
  readonly giveUpAfterMs: number | null
}

/**
 * Finds out whether a transaction was committed when the connection broke between COMMIT and its answer: asks the
 * server, on new connections, until it answers.
 */
export async function inquireCommit(inquiry: CommitInquiry): Promise<CommitOutcome> {
  const { clock, sleep, giveUpAfterMs, number } = inquiry
  const startedMs = clock.elapsedMs()
  for (let attempt = 1; ; attempt++) {
    const outcome = await ask(inquiry)
    if (outcome !== 'in progress') return outcome
    // The server may still wait for the lost client: without this the transaction would stay open.
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
      // The status is read on the same timeline only: on another one the number may be another transaction's, or of
      // none yet.
      text: `SELECT CASE WHEN ${countsHere} THEN pg_xact_status(CAST($1 AS xid8)) ELSE 'elsewhere' END AS status`,
      values: valuesOf(number),
    })
    session.release()
    const status = result?.rows[0]?.['status']
    // NULL: so long ago that the server has removed the status. Elsewhere: a standby took over, which may have received
    // the commit.
    return status === 'committed' || status === 'aborted' || status === 'in progress' ? status : 'unknown'
  } catch (error) {
    session.discard()
    // After a crash the server does not know the number of a transaction that wrote nothing to disk. Such a transaction
    // was not committed.
    const isAhead = error instanceof DatabaseFailure && error.sqlState === '22023'
    return isAhead ? 'aborted' : 'in progress'
  }
}

/** Whether the server is on the timeline `$2`; true when the timeline is not known. */
const countsHere = `CASE WHEN $2 = '' THEN true ELSE ${timelineExpression} = $2 END`

function valuesOf({ xid, timeline }: TransactionNumber): string[] {
  return [xid, timeline ?? '']
}

/**
 * Ends the server process of a transaction whose connection is lost, so that its locks are released. When the user
 * lacks the right to do so, or the server is away, the server's own time limits end it later.
 */
export async function endTransaction(
  open: () => Promise<PostgresSession>,
  number: TransactionNumber,
): Promise<void> {
  let session: PostgresSession | null = null
  try {
    session = await open()
    // Found by the transaction, not by the process id, because that process may work for another client by now.
    const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE ${countsHere} AND backend_xid = CAST(CAST($1 AS xid8) AS xid)`
    await session.query({ text, values: valuesOf(number) })
    session.release()
  } catch {
    session?.discard()
  }
}
