import type { JobDataMap } from '../../core/job-data-map.ts'
import type { JobKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { KeyMap } from './key-map.ts'
import type { SqlProgram } from './statement.ts'

/** What a row of `job_details` says without its data. */
export interface JobRef {
  readonly key: JobKey
  readonly jobType: string
  readonly durable: boolean
  readonly nonConcurrent: boolean
}

export interface LoadedJobs {
  readonly found: KeyMap<JobKey, JobDetail>
  /** Rows that cannot be read, data that Java serialized for one. */
  readonly broken: KeyMap<JobKey, Error>
}

/** The rows of `job_details`. */
export interface JobTable {
  /** Stores rows of keys that are not there yet. */
  insert(jobs: readonly JobDetail[]): SqlProgram<void>
  /** Stores rows whole, over those of the same key. */
  put(jobs: readonly JobDetail[]): SqlProgram<void>
  load(keys: readonly JobKey[]): SqlProgram<LoadedJobs>
  /** Locks those rows that exist and answers what they are, in order of keys. */
  lock(keys: readonly JobKey[]): SqlProgram<readonly JobRef[]>
  /** The same, leaving out rows that another transaction holds. */
  tryLock(keys: readonly JobKey[]): SqlProgram<readonly JobRef[]>
  writeData(key: JobKey, data: JobDataMap): SqlProgram<void>
  /** Deletes those of the keys that are not durable and have no trigger left; answers them. */
  deleteOrphans(keys: readonly JobKey[]): SqlProgram<readonly JobKey[]>
  /** Deletes rows that have no trigger left. */
  delete(keys: readonly JobKey[]): SqlProgram<void>
}
