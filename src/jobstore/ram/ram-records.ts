import type { JobKey } from '../../core/key.ts'
import type { AuditCursor, AuditEntry, AuditQuery } from '../audit.ts'
import type { ExecutionLogLine, ExecutionLogQuery } from '../execution-log.ts'
import type { JobStatus, JobStatusQuery } from '../job-status.ts'
import type { JobCompletion } from '../job-store.ts'
import type { ExecutionLogLimits, JobStoreRecords, RecordBatch } from '../job-store-records.ts'
import type { Misfire, MisfireCountQuery, MisfireCounts, MisfireCursor, MisfireQuery } from '../misfires.ts'
import type { ExecutionDetails, ExecutionOutcome, Page } from '../queries.ts'
import { keptKinds, logLimitsOf, type ResolvedRecordOptions } from '../record-options.ts'
import { RamAudit } from './ram-audit.ts'
import type { RamData } from './ram-data.ts'
import { RamExecutionLog } from './ram-execution-log.ts'
import { RamHistory, type RamRecordsContext } from './ram-history.ts'
import { RamJobStatus } from './ram-job-status.ts'
import { RamMisfires } from './ram-misfires.ts'
import type { JobRecord } from './records.ts'

/** How often is looked for what is too old. */
const pruneIntervalMs = 60_000

/** What the RAM store remembers of executions. */
export class RamRecords implements JobStoreRecords {
  readonly kinds: readonly (keyof RecordBatch)[]
  readonly logLimits: ExecutionLogLimits
  readonly countsCompletions = true
  readonly history: RamHistory
  readonly #context: () => RamRecordsContext
  readonly #jobStatus: RamJobStatus
  readonly #log: RamExecutionLog
  readonly #misfires: RamMisfires
  readonly #audit: RamAudit
  #prunedMs = 0

  constructor(data: RamData, options: ResolvedRecordOptions, context: () => RamRecordsContext) {
    this.kinds = keptKinds(options)
    this.logLimits = logLimitsOf(options)
    this.history = new RamHistory(options.history, context)
    this.#jobStatus = new RamJobStatus(data, options.jobStatus)
    this.#log = new RamExecutionLog(options.executionLog)
    this.#misfires = new RamMisfires(options.misfires)
    this.#audit = new RamAudit(options.audit)
    this.#context = context
  }

  /** Remembers that an execution ended; `job` as it is after that. */
  complete(completion: JobCompletion, job: JobRecord): void {
    this.history.note(completion)
    this.#jobStatus.count(job, completion, this.#now())
  }

  async write({ statuses = [], logs = [], misfires = [], audits = [] }: RecordBatch): Promise<void> {
    const nowMs = this.#now()
    this.#jobStatus.write(statuses, nowMs)
    this.#log.write(logs)
    this.#misfires.write(misfires, nowMs)
    this.#audit.write(audits, nowMs)
    this.prune()
  }

  /** Now and then deletes what is too old. */
  prune(): void {
    const nowMs = this.#now()
    if (Math.abs(nowMs - this.#prunedMs) < pruneIntervalMs) return
    this.#prunedMs = nowMs
    this.history.prune(nowMs)
    this.#jobStatus.prune(nowMs)
    this.#log.prune(nowMs)
    this.#misfires.prune(nowMs)
    this.#audit.prune(nowMs)
  }

  async queryJobStatus(query: JobStatusQuery): Promise<Page<JobStatus, JobKey>> {
    return this.#jobStatus.query(query, this.#now())
  }

  keeps(outcome: ExecutionOutcome): boolean {
    return this.history.keeps(outcome)
  }

  async getExecution(fireInstanceId: string): Promise<ExecutionDetails | null> {
    return this.history.get(fireInstanceId)
  }

  async queryExecutionLog(
    fireInstanceId: string,
    query: ExecutionLogQuery,
  ): Promise<Page<ExecutionLogLine, number>> {
    return this.#log.query(fireInstanceId, query)
  }

  async queryMisfires(query: MisfireQuery): Promise<Page<Misfire, MisfireCursor>> {
    return this.#misfires.query(query)
  }

  async countMisfires(query: MisfireCountQuery): Promise<MisfireCounts> {
    return this.#misfires.count(query)
  }

  async queryAudit(query: AuditQuery): Promise<Page<AuditEntry, AuditCursor>> {
    return this.#audit.query(query)
  }

  #now(): number {
    return this.#context().clock.now()
  }
}
