import type { EpochMs } from '../../time/clock.ts'
import { nextTurn } from '../../time/next-turn.ts'
import { instantMaxMs } from '../../triggers/invalid-trigger.ts'
import { isAhead } from '../clock-ahead.ts'
import { FailureSeries } from '../failure-series.ts'
import { dayOf } from '../job-status.ts'
import type { ExecutionCursor, ExecutionOutcome } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import { isStoreGone } from '../store-gone.ts'
import type { Bounds } from './kernel/bounds.ts'
import type { SqlProgram } from './kernel/statement.ts'
import type { SqlSession, SqlTransaction } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import type { RowsAhead, SurplusAhead } from './tables/encoding/rows-ahead.ts'

/** How often is looked for rows that are too old or too many. */
const intervalMs = 60_000
/** The time before the first look, so that a process that runs one job does not pay for it. */
const firstMs = 10_000
/** How many rows one transaction deletes, so that it stays short. */
const rowsPerTransaction = 500

/** In one of so many looks is looked for what takes reading a whole table: the first one, and about once an hour. */
const looksAtAll = 60

/** Deletes some rows that are too old or too many; answers about how many, `limit` or more when there may be others. */
type Pruning = (tx: SqlTransaction, limit: number) => SqlProgram<number>
/** Begins a look; null when there is nothing to do in this one. */
type Look = () => Pruning | null

/** Keeps what is remembered of executions within its bounds. It has no timer: it looks now and then after writes. */
export class RecordPruner {
  readonly #transactor: SqlTransactor
  readonly #looks: readonly { readonly look: Look; readonly failures: FailureSeries }[]
  #lookedMs: number
  #pruning: Promise<void> | null = null
  #isClosed = false

  constructor(transactor: SqlTransactor, options: ResolvedRecordOptions) {
    this.#transactor = transactor
    const { clustered, context } = transactor.session
    this.#looks = looksOf(options, clustered).map((look) => ({ look, failures: new FailureSeries(context) }))
    this.#lookedMs = context.clock.elapsedMs() + firstMs - intervalMs
  }

  /** Something was written. Returns at once and never throws. */
  noteWrite(): void {
    if (this.#pruning !== null || this.#isClosed) return
    const elapsedMs = this.#transactor.session.context.clock.elapsedMs()
    if (elapsedMs - this.#lookedMs < intervalMs) return
    this.#lookedMs = elapsedMs
    this.#pruning = this.#prune()
  }

  /** Resolves when the work under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pruning
  }

  async #prune(): Promise<void> {
    const { clock } = this.#transactor.session.context
    for (const { look, failures } of this.#looks) {
      const pruning = look()
      if (pruning === null) continue
      try {
        while (!this.#isClosed && (await this.#pruneSome(pruning)) >= rowsPerTransaction) {
          await nextTurn(clock)
        }
        failures.end('Old records of executions are deleted again.')
      } catch (error) {
        if (isStoreGone(error)) {
          this.#isClosed = true
          break
        }
        failures.add('Old records of executions could not be deleted; it is tried again later.', error)
      }
    }
    this.#pruning = null
  }

  #pruneSome(pruning: Pruning): Promise<number> {
    return this.#transactor.run((tx) => pruning(tx, rowsPerTransaction), { lock: 'none', tells: 'none' })
  }
}

function looksOf(
  { audit, executionLog, history, jobStatus, misfires }: ResolvedRecordOptions,
  clustered: boolean,
): readonly Look[] {
  const looks: Look[] = []
  if (history.isKept) {
    looks.push(within(history, (session) => session.history))
  }
  for (const [outcome, ageMs] of Object.entries(history.maxAgeMsByOutcome)) {
    looks.push(ofOutcome(outcome as ExecutionOutcome, ageMs))
  }
  if (jobStatus.isKept) {
    const oldest = (nowMs: EpochMs): number => dayOf(nowMs) - jobStatus.maxDays
    looks.push(
      always(({ session, nowMs }, limit) => session.jobStatus.pruneDays(oldest(nowMs), limit)),
      seldom(({ session, nowMs }, limit) => session.jobStatus.pruneGone(oldest(nowMs), limit)),
    )
  }
  if (executionLog.isKept) {
    looks.push(within(executionLog, (session) => session.executionLog))
    const mayOutlive = executionLog.maxAgeMs < history.maxAgeMs || executionLog.maxRows < history.maxRows
    if (history.isKept && mayOutlive) looks.push(dropsLogLines(executionLog))
  }
  if (misfires.isKept) {
    looks.push(within(misfires, (session) => session.misfires))
  }
  if (audit.isKept) {
    looks.push(within(audit, (session) => session.audit))
  }
  if (clustered) looks.push(always(({ session }, limit) => session.executionProgress.prune(limit)))
  return looks
}

function always(pruning: Pruning): Look {
  return () => pruning
}

function seldom(pruning: Pruning): Look {
  let looks = 0
  return () => (looks++ % looksAtAll === 0 ? pruning : null)
}

/**
 * Deletes the executions with an outcome. All others are read for it, in steps, and a look goes on where the last one
 * ended. What is not among those that follow goes when a look begins anew: an execution that was stored later than its
 * age, as one that took long, and one that another transaction held.
 */
function ofOutcome(outcome: ExecutionOutcome, ageMs: number): Look {
  let looks = 0
  let after: ExecutionCursor | null = null
  return () => {
    if (looks++ % looksAtAll === 0) after = null
    return function* pruneOutcome({ session: { history }, nowMs, notes }, limit) {
      const { deleted, passed } = yield* history.pruneOutcome(
        { outcome, beforeMs: nowMs - ageMs, after },
        limit,
      )
      notes.add(() => {
        after = passed.place
      })
      return passed.isAll ? deleted : limit
    }
  }
}

interface Limits {
  readonly maxAgeMs: number
  readonly maxRows: number
}

/** What a table does about rows that are too old or too many. */
interface BoundedTable<Place> {
  readonly ahead: RowsAhead
  surplus(maxRows: number): SqlProgram<Place | null>
  prune(bounds: Bounds<Place>, limit: number): SqlProgram<number>
}

/** Which rows are too many is asked once a look, because all the others are read for it. */
function within<Place>(
  { maxAgeMs, maxRows }: Limits,
  tableOf: (session: SqlSession) => BoundedTable<Place>,
): Look {
  return () => {
    let surplus: Place | null | undefined
    let surplusAhead: SurplusAhead | null = null
    return function* prune({ session, nowMs }, limit) {
      const bounded = tableOf(session)
      if (surplus === undefined) {
        const found = yield* bounded.surplus(maxRows)
        surplusAhead = found === null ? null : yield* bounded.ahead.surplus(maxRows, nowMs)
        // Where some are ahead, others that are too many, and those that others hold, go at a later look.
        surplus = surplusAhead === null ? found : null
      }
      if (surplusAhead !== null) {
        const deleted = yield* bounded.ahead.prune(surplusAhead, limit)
        if (deleted < limit) surplusAhead = null
        if (deleted > 0) return limit
      }
      return yield* bounded.prune({ beforeMs: nowMs - maxAgeMs, surplus }, limit)
    }
  }
}

/**
 * Deletes the log lines that are in the history with their executions, where those are kept for longer. By when they
 * ended, because one that took long is written behind others that began later.
 */
function dropsLogLines({ maxAgeMs, maxRows }: Limits): Look {
  return () => {
    let surplusMs: EpochMs | undefined
    return function* pruneLogLines({ session: { history }, nowMs }, limit) {
      surplusMs ??= (yield* history.surplus(maxRows))?.fireTimeMs ?? -instantMaxMs
      // Executions of a clock that was ahead would stand for all the others; they are in the history for as long.
      if (isAhead(surplusMs, nowMs)) surplusMs = -instantMaxMs
      return yield* history.dropLogLines(Math.max(nowMs - maxAgeMs, surplusMs + 1), limit)
    }
  }
}
