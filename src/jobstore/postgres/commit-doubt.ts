import type { Clock } from '../../time/clock.ts'
import type { InterruptibleSleep } from '../../time/interruptible-sleep.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { PostgresQuery, PostgresSession } from './postgres-session.ts'
import { backoffMs } from './transaction-retry.ts'

/** What identifies a transaction when the server is asked about it. Instants are seconds on the server's clock. */
export interface TransactionNumber {
  /** The transaction number, 64 bits. */
  readonly xid: string
  /**
   * The timeline on which the number is valid: a standby that was promoted gives its own numbers. Null where it cannot
   * be known.
   */
  readonly timeline: string | null
  /** When the transaction began. */
  readonly began: string
  /** When the server had been started. Null where it cannot be known. */
  readonly serverStarted: string | null
}

/** The timeline on which a server writes, as eight digits; an error on a standby. */
export const timelineExpression = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

/** When the server was started: not anew where it restarts its processes after one of them has crashed. */
export const serverStartedExpression = 'extract(epoch FROM pg_postmaster_start_time())'

/**
 * What the server knows of a transaction: `elsewhere` where it has forgotten it, or may mean another one by its number,
 * and `unknown` where it has not answered.
 */
export type CommitOutcome = 'committed' | 'aborted' | 'elsewhere' | 'unknown'

const undefinedFunction = '42883'
const undefinedTable = '42P01'

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
    const [result] = await session.query(statusQuery(number))
    session.release()
    const status = result?.rows[0]?.['status']
    return status === 'committed' || status === 'aborted' || status === 'in progress' ? status : 'elsewhere'
  } catch (error) {
    session.discard()
    // After a crash the server has not given the number of a transaction of which nothing had reached the disk. Such a
    // transaction was not committed.
    const sqlState = error instanceof DatabaseFailure ? error.sqlState : null
    if (sqlState === '22023') return 'aborted'
    // A server that is only compatible with PostgreSQL may lack what is asked for: no further question is answered.
    return sqlState === undefinedFunction || sqlState === undefinedTable ? 'elsewhere' : 'in progress'
  }
}

/** Whether the server is on the timeline `$2`; true when the timeline is not known. */
const isOnTimeline = `CASE WHEN $2 = '' THEN true ELSE ${timelineExpression} = $2 END`

/**
 * Whether the server has not crashed since the transaction began at `$3`, when it had been started at `$4`. A server
 * that recovers from a crash begins its statistics anew, also where it has restarted only its processes; one that was
 * stopped in an orderly way keeps them. A server that seems to have been started anew before `$3` was started by
 * another clock, so the instants say nothing.
 */
const hasNotCrashed = `EXISTS (
    SELECT 1 FROM pg_stat_bgwriter WHERE extract(epoch FROM stats_reset) <= CAST($3 AS numeric))
  AND (${serverStartedExpression} = CAST($4 AS numeric) OR ${serverStartedExpression} > CAST($3 AS numeric))`

/**
 * After a crash the server gives the number of a transaction again of which nothing had reached the disk. Then
 * 'committed' may be said of another one. What else is said means that this one was not committed: either it is about
 * this one, which the crash has ended, or the number was given again.
 */
const statusText = `SELECT CASE
    WHEN NOT (${isOnTimeline}) THEN 'elsewhere'
    WHEN ${hasNotCrashed} THEN pg_xact_status(CAST($1 AS xid8))
    WHEN pg_xact_status(CAST($1 AS xid8)) IN ('aborted', 'in progress') THEN 'aborted'
    ELSE 'elsewhere' END AS status`

/** The same where a crash cannot be told: one that is in progress may be this one, and what is committed another. */
const statusTextWithoutStart = `SELECT CASE
    WHEN NOT (${isOnTimeline}) OR pg_xact_status(CAST($1 AS xid8)) = 'committed' THEN 'elsewhere'
    ELSE pg_xact_status(CAST($1 AS xid8)) END AS status`

function statusQuery({ xid, timeline, began, serverStarted }: TransactionNumber): PostgresQuery {
  return serverStarted === null
    ? { text: statusTextWithoutStart, values: [xid, timeline ?? ''] }
    : { text: statusText, values: [xid, timeline ?? '', began, serverStarted] }
}

/**
 * Ends the server process of a transaction whose connection is lost, so that its locks are released. When the user
 * lacks the right to do so, or the server is away, the server's own time limits end it later.
 */
export async function endTransaction(
  open: () => Promise<PostgresSession>,
  { xid, timeline, began, serverStarted }: TransactionNumber,
): Promise<void> {
  // Where a crash cannot be told, the number may be that of another transaction.
  if (serverStarted === null) return
  let session: PostgresSession | null = null
  try {
    session = await open()
    // Found by the transaction, not by the process id, because that process may work for another client by now.
    const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE ${isOnTimeline} AND ${hasNotCrashed} AND backend_xid = CAST(CAST($1 AS xid8) AS xid)`
    await session.query({ text, values: [xid, timeline ?? '', began, serverStarted] })
    session.release()
  } catch {
    session?.discard()
  }
}
