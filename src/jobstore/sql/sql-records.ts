import type { JobKey } from '../../core/key.ts'
import type { AuditCursor, AuditEntry, AuditQuery } from '../audit.ts'
import { type ExecutionLogLine, type ExecutionLogQuery, pageOfLines } from '../execution-log.ts'
import type { JobStatus, JobStatusChange, JobStatusQuery } from '../job-status.ts'
import type { ExecutionLogLimits, JobStoreRecords, RecordBatch } from '../job-store-records.ts'
import type { Misfire, MisfireCountQuery, MisfireCounts, MisfireCursor, MisfireQuery } from '../misfires.ts'
import { type ExecutionDetails, type ExecutionOutcome, type Page, pageSize } from '../queries.ts'
import { keepsOutcome, keptKinds, logLimitsOf, type ResolvedRecordOptions } from '../record-options.ts'
import type { SqlProgram } from './kernel/statement.ts'
import type { RecordPruner } from './record-pruner.ts'
import type { SqlTransaction } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import type { SqlEngine } from './sql-engine.ts'

interface OpenParts {
  readonly transactions: SqlTransactor
  readonly pruner: RecordPruner
}

/** What is remembered besides the history, in tables of its own. */
export class SqlRecords implements JobStoreRecords {
  readonly kinds: readonly (keyof RecordBatch)[]
  readonly logLimits: ExecutionLogLimits
  readonly takesLogLines = true
  readonly entriesAtOnce?: number
  readonly #options: ResolvedRecordOptions
  readonly #open: () => OpenParts

  constructor(open: () => OpenParts, engine: Pick<SqlEngine, 'capabilities' | 'records' | 'recordsAtOnce'>) {
    const { capabilities, records: options, recordsAtOnce } = engine
    this.#open = open
    this.#options = options
    if (recordsAtOnce !== undefined) this.entriesAtOnce = recordsAtOnce
    // Where no other node looks at it, the progress of running executions is in the memory of this one.
    this.kinds = [...keptKinds(options), ...(capabilities.clustered ? (['progress'] as const) : [])]
    this.logLimits = logLimitsOf(options)
  }

  worthWriting(statuses: readonly JobStatusChange[]): Promise<readonly JobStatusChange[]> {
    return this.#open().transactions.read(({ jobStatus }) => jobStatus.known(statuses))
  }

  async write(batch: RecordBatch): Promise<void> {
    const { transactions, pruner } = this.#open()
    const { statuses = [] } = batch
    const { context, jobStatus } = transactions.session
    await transactions.run((tx) => writeRecords(tx, batch), {
      lock: 'none',
      tells: 'none',
      // Statuses are added to what is there; all else finds what it has stored.
      wasCommitted:
        statuses.length === 0 ? 'runAgain' : () => jobStatus.wereWritten(statuses, context.clock.now()),
    })
    pruner.noteWrite()
  }

  async queryJobStatus(query: JobStatusQuery): Promise<Page<JobStatus, JobKey>> {
    const size = pageSize('queryJobStatus', query)
    const found = await this.#open().transactions.read(({ jobStatus, context }) =>
      jobStatus.find(query, size + 1, context.clock.now()),
    )
    const items = found.slice(0, size)
    return { items, next: found.length > size ? (items.at(-1)?.jobKey ?? null) : null }
  }

  keeps(outcome: ExecutionOutcome): boolean {
    return keepsOutcome(this.#options.history, outcome)
  }

  getExecution(fireInstanceId: string): Promise<ExecutionDetails | null> {
    return this.#open().transactions.read(({ history }) => history.get(fireInstanceId))
  }

  async queryExecutionLog(
    fireInstanceId: string,
    query: ExecutionLogQuery,
  ): Promise<Page<ExecutionLogLine, number>> {
    const size = pageSize('queryExecutionLog', query)
    const lines = await this.#open().transactions.read(({ executionLog }) =>
      executionLog.find(fireInstanceId, query.after ?? 0, size + 1),
    )
    return pageOfLines(lines, query, size)
  }

  queryMisfires(query: MisfireQuery): Promise<Page<Misfire, MisfireCursor>> {
    const size = pageSize('queryMisfires', query)
    return this.#open().transactions.read(({ misfires }) => misfires.find(query, size))
  }

  countMisfires(query: MisfireCountQuery): Promise<MisfireCounts> {
    return this.#open().transactions.read(({ misfires }) => misfires.count(query))
  }

  async queryAudit(query: AuditQuery): Promise<Page<AuditEntry, AuditCursor>> {
    const size = pageSize('queryAudit', query)
    return this.#open().transactions.read(({ audit }) => audit.find(query, size))
  }
}

function* writeRecords(
  { session, nowMs }: SqlTransaction,
  { statuses = [], logs = [], progress = [], misfires = [], audits = [] }: RecordBatch,
): SqlProgram<void> {
  yield* session.jobStatus.write(statuses, nowMs)
  yield* session.executionLog.write(logs)
  yield* session.executionProgress.write(progress)
  yield* session.misfires.write(misfires)
  yield* session.audit.write(audits)
}
