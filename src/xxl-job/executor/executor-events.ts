import type { SchedulerError } from '../../core/errors.ts'
import type { EventNames } from '../../core/typed-events.ts'

/** Every event of an executor for XXL-JOB with its payload. */
export interface XxlJobExecutorEventMap {
  /** An admin knows the executor now: after the start, and after a time in which none did. */
  registered: { readonly adminAddress: string }
  /** No admin took the registration. Sent once, until one takes it again. */
  registrationFailed: { readonly error: SchedulerError }
  /** A run begins. */
  runStarted: { readonly jobId: number; readonly logId: number }
  /** A run has its result: also one that was killed before it began. */
  runEnded: {
    readonly jobId: number
    readonly logId: number
    readonly handleCode: number
    readonly handleMsg: string
  }
  /** An admin took results. */
  resultsSent: { readonly adminAddress: string; readonly logIds: readonly number[] }
  /** No admin took results; they are kept and sent again. Sent once, until an admin takes some. */
  resultsWaiting: { readonly error: SchedulerError; readonly count: number }
}

export const executorEventNames: EventNames<XxlJobExecutorEventMap> = {
  registered: true,
  registrationFailed: true,
  runStarted: true,
  runEnded: true,
  resultsSent: true,
  resultsWaiting: true,
}
