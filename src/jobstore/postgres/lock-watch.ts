import type pg from 'pg'
import type { LockWait } from '../lock-wait.ts'
import { disconnect } from './postgres-driver.ts'
import type { SlowStatement } from './postgres-session.ts'
import { ToldLately } from './told-lately.ts'

export interface LockWatchOptions {
  /** A client outside of the pool, which may have no free connection while statements wait for locks. */
  readonly connect: () => pg.Client
  readonly onLockWait: (wait: LockWait) => void
  /** A COMMIT waits for a synchronous standby: its own, or that of the session that holds the lock. */
  readonly onStandbyWait: () => void
  /** Monotonic time. */
  readonly elapsedMs: () => number
}

// A session that is directly in the way may wait as well: those that wait for no other hold up all of them. There are
// none in a deadlock that the server has not found yet: then those directly in the way are named. The name of the
// application and the statement are cut, because they are for people to read.
const whoBlocks = `WITH RECURSIVE ahead AS (
  SELECT b.pid FROM unnest(pg_blocking_pids($1)) AS b(pid)
  UNION
  SELECT b.pid FROM ahead CROSS JOIN LATERAL unnest(pg_blocking_pids(ahead.pid)) AS b(pid)
), roots AS (
  SELECT pid FROM ahead WHERE cardinality(pg_blocking_pids(pid)) = 0
)
  SELECT a.pid, left(coalesce(a.application_name, ''), 100) AS application,
  coalesce(a.state, '') AS state, left(coalesce(a.query, ''), 1000) AS statement,
  CAST(extract(epoch FROM clock_timestamp() - a.xact_start) * 1000 AS double precision) AS age_ms,
  left(coalesce(w.query, ''), 1000) AS waiting,
  (coalesce(a.wait_event, '') = 'SyncRep' OR coalesce(w.wait_event, '') = 'SyncRep') AS for_standby
  FROM pg_stat_activity w LEFT JOIN pg_stat_activity a
    ON a.pid IN (SELECT pid FROM roots)
    OR NOT EXISTS (SELECT 1 FROM roots) AND a.pid = ANY (pg_blocking_pids($1))
  WHERE w.pid = $1 ORDER BY a.xact_start`

/** The session that waits, with one that is in its way. */
interface WaitRow extends Omit<HolderRow, 'pid'> {
  /** Null when no session is in its way. */
  readonly pid: number | null
}

interface HolderRow {
  readonly pid: number
  readonly for_standby: boolean
  readonly application: string
  readonly state: string
  readonly statement: string
  readonly age_ms: number | null
  /** The statement that waits: of several statements sent together only the server knows which. */
  readonly waiting: string
}

const mostWaiting = 10
/** What waits behind the same sessions is reported again after this time. */
const tellAgainMs = 60_000

/** Finds out whether a slow statement waits for a lock, and which session holds the lock. */
export class LockWatch {
  readonly #options: LockWatchOptions
  readonly #waiting: SlowStatement[] = []
  /** Waits of statements that may come again and again. */
  readonly #told: ToldLately
  #looking: Promise<void> | null = null
  #isCutOff = false

  constructor(options: LockWatchOptions) {
    this.#options = options
    this.#told = new ToldLately(tellAgainMs, options.elapsedMs)
  }

  /** Returns at once and never throws. */
  examine(slow: SlowStatement): void {
    if (this.#isCutOff) return
    // When many statements wait, one look at a time is enough, and the first few show the cause.
    if (this.#waiting.length < mostWaiting) this.#waiting.push(slow)
    this.#looking ??= this.#lookAtAll()
  }

  /** Resolves after the looks under way. */
  async close(): Promise<void> {
    await this.#looking
  }

  /** Begins no further look; the look under way ends when its connection is cut. */
  cutOff(): void {
    this.#waiting.length = 0
    this.#isCutOff = true
  }

  async #lookAtAll(): Promise<void> {
    for (let slow = this.#waiting.shift(); slow !== undefined; slow = this.#waiting.shift()) {
      const wait = slow.processId === null ? null : await this.#look(slow.processId, slow.waitedMs)
      if (wait === null) continue
      // What is told of its report asks no further. Else the next try of the loop's search would report the same.
      if (slow.onTold !== undefined || this.#isNews(wait)) this.#options.onLockWait(wait)
      slow.onTold?.()
    }
    this.#looking = null
  }

  #isNews({ statement, holders }: LockWait): boolean {
    return this.#told.isNews(JSON.stringify([statement, holders.map(({ processId }) => processId)]))
  }

  /** Null when the statement does not wait for a lock. */
  async #look(processId: number, waitedMs: number): Promise<LockWait | null> {
    const client = this.#options.connect()
    client.on('error', () => {})
    let rows: readonly WaitRow[] = []
    try {
      await client.connect()
      const result = await client.query<WaitRow>({
        text: whoBlocks,
        values: [processId],
        query_timeout: 5000,
      } as object as pg.QueryConfig)
      rows = result.rows
    } catch {
      // Whether it waits for a lock cannot be said; if it does for too long, its own error will.
    } finally {
      await disconnect(client)
    }
    if (rows.some((row) => row.for_standby) && this.#told.isNews('standby')) this.#options.onStandbyWait()
    // The statement is slow for another reason, or has got its lock meanwhile.
    const holding = rows.filter((row): row is HolderRow => row.pid !== null)
    const statement = holding[0]?.waiting
    if (statement === undefined) return null
    const holders = holding.map(({ pid, application, state, statement: held, age_ms }) => {
      const transactionAgeMs = age_ms === null ? null : Math.round(age_ms)
      return { processId: pid, application, state, statement: held, transactionAgeMs }
    })
    return { statement, processId, waitedMs: Math.round(waitedMs), holders }
  }
}
