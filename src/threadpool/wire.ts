import type { JobDataMap } from '../core/job-data-map.ts'
import type { EpochMs } from '../time/clock.ts'

/** Version of the records below; both sides of a thread are always the same build, so a mismatch is a bug. */
export const wireVersion = 1

/** One execution as it crosses into a worker thread: plain data only. */
export interface WorkerTask {
  readonly version: typeof wireVersion
  readonly moduleUrl: string
  readonly exportName: string
  readonly fireInstanceId: string
  readonly job: { readonly name: string; readonly group: string }
  readonly trigger: { readonly name: string; readonly group: string }
  readonly jobDataMap: JobDataMap
  readonly mergedJobDataMap: JobDataMap
  readonly fireTimeMs: EpochMs
  readonly scheduledFireTimeMs: EpochMs
  readonly previousFireTimeMs: EpochMs | null
  readonly nextFireTimeMs: EpochMs | null
  readonly recovering: boolean
  readonly refireCount: number
  readonly attempt: number
}

/** What comes back from a worker thread when the job ended well. */
export interface WorkerTaskResult {
  /** What the job returned. */
  readonly result: unknown
  /** The job's own data as the job left it. */
  readonly jobDataMap: JobDataMap
}
