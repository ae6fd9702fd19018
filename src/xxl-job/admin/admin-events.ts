import type { SchedulerError } from '../../core/errors.ts'
import type { EventNames } from '../../core/typed-events.ts'

/** Which run, where. */
export interface XxlJobRunPlace {
  readonly appName: string
  readonly jobId: number
  readonly logId: number
  readonly address: string
}

/** Every event of an admin of executors with its payload. */
export interface XxlJobAdminEventMap {
  /** An executor is known now: after its first beat, and after one that follows 90 seconds without. */
  executorRegistered: { readonly appName: string; readonly address: string }
  /** An executor said that it shuts down. */
  executorRemoved: { readonly appName: string; readonly address: string }
  /** A run is about to be sent. */
  runSent: XxlJobRunPlace
  /** The answer to a run was lost: the executor may have it, so its result is waited for. */
  runUnknown: XxlJobRunPlace & { readonly error: SchedulerError }
  /** A run has ended, or is not waited for any more. */
  runEnded: XxlJobRunPlace & {
    readonly outcome: 'succeeded' | 'failed' | 'noResult'
    readonly message: string
  }
  /** A result came that no caller waits for: a repeated one, or one of a run that was given up. */
  resultLate: { readonly logId: number; readonly handleCode: number; readonly handleMsg: string }
}

export const adminEventNames: EventNames<XxlJobAdminEventMap> = {
  executorRegistered: true,
  executorRemoved: true,
  runSent: true,
  runUnknown: true,
  runEnded: true,
  resultLate: true,
}
