import type { JobKey } from '../../core/key.ts'
import type { Clock } from '../../time/clock.ts'
import type { JobStatus, JobStatusQuery } from '../job-status.ts'
import type { JobStoreRecords, RecordBatch } from '../job-store-records.ts'
import type { Page } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import type { RamData } from './ram-data.ts'
import { RamJobStatus } from './ram-job-status.ts'

/** How often is looked for what is too old. */
const pruneIntervalMs = 60_000

/** What the RAM store remembers of executions. */
export class RamRecords implements JobStoreRecords {
  readonly kinds: readonly (keyof RecordBatch)[]
  readonly #clock: () => Clock
  readonly #jobStatus: RamJobStatus
  #prunedMs = 0

  constructor(data: RamData, options: ResolvedRecordOptions, clock: () => Clock) {
    this.kinds = options.jobStatus.record ? ['statuses'] : []
    this.#jobStatus = new RamJobStatus(data, options.jobStatus)
    this.#clock = clock
  }

  async write({ statuses = [] }: RecordBatch): Promise<void> {
    const nowMs = this.#clock().now()
    this.#jobStatus.write(statuses, nowMs)
    if (Math.abs(nowMs - this.#prunedMs) < pruneIntervalMs) return
    this.#prunedMs = nowMs
    this.#jobStatus.prune(nowMs)
  }

  async queryJobStatus(query: JobStatusQuery): Promise<Page<JobStatus, JobKey>> {
    return this.#jobStatus.query(query, this.#clock().now())
  }
}
