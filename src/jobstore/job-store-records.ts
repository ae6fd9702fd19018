import type { JobKey } from '../core/key.ts'
import type { JobStatus, JobStatusChange, JobStatusQuery } from './job-status.ts'
import type { Page } from './queries.ts'

/**
 * What a scheduler has to remember, gathered for about a second. Each list is in the order in which things happened;
 * one that is left out is empty.
 */
export interface RecordBatch {
  /** At most one for each job, in order of keys. */
  readonly statuses?: readonly JobStatusChange[]
}

/**
 * What a store remembers of executions besides the history, which it writes when they end. The scheduler gathers it and
 * writes it in batches, so that no firing waits for it; what was gathered in the last second is lost when the process
 * dies.
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
   * In order of keys. Only jobs that exist get a status; one that is deleted later keeps it until it is too old, so
   * that a job made anew under its key goes on with it.
   */
  queryJobStatus(query: JobStatusQuery): Promise<Page<JobStatus, JobKey>>
}
