import type { JobKey } from '../core/key.ts'
import type { AuditCursor, AuditEntry, AuditQuery } from './audit.ts'
import type {
  ExecutionLogChunk,
  ExecutionLogLevel,
  ExecutionLogLine,
  ExecutionLogQuery,
  ExecutionProgress,
} from './execution-log.ts'
import type { JobStatus, JobStatusChange, JobStatusQuery } from './job-status.ts'
import type { Misfire, MisfireCountQuery, MisfireCounts, MisfireCursor, MisfireQuery } from './misfires.ts'
import type { ExecutionDetails, ExecutionOutcome, Page } from './queries.ts'

/**
 * What a scheduler has to remember, gathered for about a second. Each list is in the order in which things happened;
 * one that is left out is empty.
 */
export interface RecordBatch {
  /** At most one for each job, in order of keys. */
  readonly statuses?: readonly JobStatusChange[]
  /** At most one for each execution. When an answer was lost, lines come again, with those that follow. */
  readonly logs?: readonly ExecutionLogChunk[]
  /** At most one for each execution. */
  readonly progress?: readonly ExecutionProgress[]
  /** When an answer was lost, they come again. */
  readonly misfires?: readonly Misfire[]
  /** An entry that is there already comes again when it counts further requests, or when an answer was lost. */
  readonly audits?: readonly AuditEntry[]
}

/**
 * What a store remembers of executions and of people besides the history, which it writes when executions end. The
 * scheduler gathers it and writes it in batches, so that no firing waits for it; what was gathered in the last second
 * is lost when the process dies.
 */
export interface JobStoreRecords {
  /** The lists of a batch that the store keeps; the scheduler gathers no others. */
  readonly kinds: readonly (keyof RecordBatch)[]
  /**
   * Writes a batch, whole or not at all, in a transaction of its own, and now and then deletes what is too old. It
   * takes no lock that a firing needs.
   */
  write(batch: RecordBatch): Promise<void>
  /**
   * Those of the statuses that `write` would keep, in the same order, for a store that looks up faster than it writes:
   * jobs that ran once and are gone may be most of them. Default: the scheduler has all of them written.
   */
  worthWriting?(statuses: readonly JobStatusChange[]): Promise<readonly JobStatusChange[]>
  /**
   * Most entries of one batch, 1 or more, for a store whose writes block the event loop: between two batches it fires
   * what is due. Default: no limit.
   */
  readonly entriesAtOnce?: number
  /**
   * In order of keys. Only jobs that exist get a status; one that is deleted later keeps it until it is too old, so
   * that a job made anew under its key goes on with it.
   */
  queryJobStatus(query: JobStatusQuery): Promise<Page<JobStatus, JobKey>>
  /**
   * Whether the store counts an execution in the status of its job when it completes it, for a store that can do so
   * without waiting: the scheduler then notes no status of executions that it completes. Default false.
   */
  readonly countsCompletions?: boolean
  /** Whether the history keeps executions with this outcome. */
  keeps(outcome: ExecutionOutcome): boolean
  /** An execution of the history; null when it is not in it. */
  getExecution(fireInstanceId: string): Promise<ExecutionDetails | null>
  /** What is kept of the log of one execution. */
  readonly logLimits: ExecutionLogLimits
  /**
   * Whether the store writes `logLines` of a report together with the execution. Default: no report has any, and all
   * lines come in batches.
   */
  readonly takesLogLines?: boolean
  /** In the order in which they were logged. */
  queryExecutionLog(fireInstanceId: string, query: ExecutionLogQuery): Promise<Page<ExecutionLogLine, number>>
  /** Those that were noticed last first. */
  queryMisfires(query: MisfireQuery): Promise<Page<Misfire, MisfireCursor>>
  /** In numbers. It reads 100,000 rows at most, the newest. */
  countMisfires(query: MisfireCountQuery): Promise<MisfireCounts>
  /** The newest first. */
  queryAudit(query: AuditQuery): Promise<Page<AuditEntry, AuditCursor>>
}

export interface ExecutionLogLimits {
  /** Lines below this level are not kept. */
  readonly level: ExecutionLogLevel
  readonly maxLines: number
}
