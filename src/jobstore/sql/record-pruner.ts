import { nextTurn } from '../../time/next-turn.ts'
import { instantMaxMs } from '../../triggers/invalid-trigger.ts'
import { dayOf } from '../job-status.ts'
import type { ExecutionOutcome } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import type { SqlProgram } from './kernel/statement.ts'
import type { SqlTransaction } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'

/** How often is looked for rows that are too old or too many. */
const intervalMs = 60_000
/** The time before the first look, so that a process that runs one job does not pay for it. */
const firstMs = 10_000
/** How many rows one transaction deletes, so that it stays short. */
const rowsPerTransaction = 500

/** Deletes some rows that are too old or too many; answers about how many. */
type Pruning = (tx: SqlTransaction, limit: number) => SqlProgram<number>

/** Keeps what is remembered of executions within its bounds. It has no timer: it looks now and then after writes. */
export class RecordPruner {
  readonly #transactor: SqlTransactor
  readonly #prunings: readonly Pruning[]
  #lookedMs: number
  #pruning: Promise<void> | null = null
  #isClosed = false

  constructor(transactor: SqlTransactor, options: ResolvedRecordOptions) {
    this.#transactor = transactor
    this.#prunings = pruningsOf(options, transactor.session.clustered)
    this.#lookedMs = transactor.session.context.clock.elapsedMs() + firstMs - intervalMs
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
    const { clock, signaler } = this.#transactor.session.context
    for (const pruning of this.#prunings) {
      try {
        while (!this.#isClosed && (await this.#pruneSome(pruning)) >= rowsPerTransaction) {
          await nextTurn(clock)
        }
      } catch (error) {
        signaler.storeError('Old records of executions could not be deleted; it is tried again later.', error)
      }
    }
    this.#pruning = null
  }

  #pruneSome(pruning: Pruning): Promise<number> {
    return this.#transactor.run((tx) => pruning(tx, rowsPerTransaction), { lock: 'none', tells: 'none' })
  }
}

function pruningsOf(
  { audit, executionLog, history, jobStatus, misfires }: ResolvedRecordOptions,
  clustered: boolean,
): readonly Pruning[] {
  const prunings: Pruning[] = []
  if (history.record !== 'off') {
    prunings.push(function* pruneHistory({ session, nowMs }, limit) {
      const surplus = yield* session.history.surplus(history.maxRows)
      return yield* session.history.prune({ beforeMs: nowMs - history.maxAgeMs, surplus }, limit)
    })
  }
  for (const [outcome, ageMs] of Object.entries(history.maxAgeMsByOutcome)) {
    prunings.push(({ session, nowMs }, limit) =>
      session.history.pruneOutcome(outcome as ExecutionOutcome, nowMs - ageMs, limit),
    )
  }
  if (jobStatus.record) {
    prunings.push((tx, limit) => tx.session.jobStatus.prune(dayOf(tx.nowMs) - jobStatus.maxDays, limit))
  }
  if (executionLog.level !== 'off') {
    prunings.push(({ session, nowMs }, limit) =>
      session.executionLog.prune(nowMs - executionLog.maxAgeMs, executionLog.maxRows, limit),
    )
  }
  const mayOutlive = executionLog.maxAgeMs < history.maxAgeMs || executionLog.maxRows < history.maxRows
  if (executionLog.level !== 'off' && history.record !== 'off' && mayOutlive) {
    prunings.push(dropsLogLines(executionLog))
  }
  if (misfires.record) {
    prunings.push(({ session, nowMs }, limit) =>
      session.misfires.prune(nowMs - misfires.maxAgeMs, misfires.maxRows, limit),
    )
  }
  if (audit.record) {
    prunings.push(({ session, nowMs }, limit) =>
      session.audit.prune(nowMs - audit.maxAgeMs, audit.maxRows, limit),
    )
  }
  if (clustered) prunings.push(({ session }, limit) => session.executionProgress.prune(limit))
  return prunings
}

/** Deletes the log lines that are in the history with their executions, where those are kept for longer. */
function dropsLogLines({ maxAgeMs, maxRows }: ResolvedRecordOptions['executionLog']): Pruning {
  /** Of executions that began by then there are none left. */
  let doneMs = -instantMaxMs
  return function* pruneLogLines({ session: { history }, nowMs, notes }, limit) {
    const surplusMs = (yield* history.surplus(maxRows))?.fireTimeMs ?? -instantMaxMs
    const beforeMs = Math.max(nowMs - maxAgeMs, surplusMs + 1)
    if (beforeMs - 1 <= doneMs) return 0
    const { untilMs, isWhole } = yield* history.dropLogLines({ afterMs: doneMs, beforeMs }, limit)
    notes.add(() => {
      doneMs = untilMs
    })
    return isWhole ? 0 : limit
  }
}
