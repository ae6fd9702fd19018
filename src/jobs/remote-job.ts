import type { JobDataMap } from '../core/job-data-map.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { JobStoreNotes } from './job-store-notes.ts'

/** How the result of a firing that goes on elsewhere is awaited. */
export interface AwaitResultOptions {
  /**
   * Names the firing for those who report its result: 1 to 200 characters, and no other awaited result of the
   * scheduler has it. Default: the fire instance id.
   */
  readonly reference?: string
  /** What `stop` is to know of it, such as an address: at most 4,000 characters. Default none. */
  readonly note?: string
  /** How long the result may take. Milliseconds, 1 to 2,147,483,647. */
  readonly timeoutMs: number
  /**
   * What follows when no result came in that time. The execution has timed out either way; with `retry` the retry
   * policy of the job applies, although what was sent may still run. Default `fail`.
   */
  readonly onTimeout?: 'fail' | 'retry'
}

/** A firing that goes on elsewhere. */
export interface RemoteExecution {
  readonly reference: string
  /** What the job wrote down with `awaitResult`. */
  readonly note: string
  readonly fireInstanceId: string
  readonly jobKey: JobKey
  readonly triggerKey: TriggerKey
  readonly fireTime: Date
  /** When it ends without a result. */
  readonly deadline: Date
}

/** How a firing ended elsewhere: well, unless `error` is there and not null. */
export interface RemoteResult {
  /** What the other side says that went wrong: a text, an `Error`, or a `JobExecutionError`. */
  readonly error?: unknown
  /** What listeners and the history get as the result of the job. */
  readonly result?: unknown
}

/** Takes the results of firings that go on elsewhere: a scheduler. */
export interface ResultTaker {
  readonly schedulerName: string
  /**
   * Whether a firing that goes on elsewhere awaits a result under the reference, on whichever node it fired. For those
   * who do not know which of several schedulers awaits it: `reportResult` of the others tells it as late.
   *
   * @throws InvalidArgumentError
   * @throws SchedulerError ERR_NOT_SUPPORTED when the store cannot; ERR_SCHEDULER_SHUTDOWN; or the error of the
   *   database
   */
  awaitsResult(reference: string): Promise<boolean>
  /**
   * Ends a firing that goes on elsewhere, on whichever node it fired: with its retry, its listeners and its line in the
   * history. Resolves when that is committed, and listeners were told. False when no result is awaited under the
   * reference, because it was reported before, or came too late, or somebody else ended the firing in the same moment;
   * then the event `resultLate` says so.
   *
   * @throws InvalidArgumentError
   * @throws SchedulerError ERR_NOT_SUPPORTED when the store cannot; ERR_SCHEDULER_SHUTDOWN; or the error of the
   *   database: then it may be reported again
   */
  reportResult(reference: string, result?: RemoteResult): Promise<boolean>
}

/** The other half of a remote job: what its nodes do besides sending. */
export interface RemoteJobHooks {
  /**
   * Asks the other side to stop a firing that was interrupted, on the node where `interrupt` was called, or
   * on one that has the code of the job where that node has not. The firing ends as interrupted when this has settled,
   * or after 10 seconds; then, and when it throws, the event `schedulerError` says that it was not stopped. Default:
   * nothing is asked.
   */
  readonly stop?: (execution: RemoteExecution) => unknown
  /**
   * Called once by each scheduler that has the job, before it starts. When it throws, `createScheduler` or
   * `registerJobs` throws that, and none of the jobs is registered. It is not waited for, so one that returns a promise
   * is refused. A function that it returns is called, and not waited for, when the scheduler shuts down, or when the
   * `connect` of another one of those jobs throws. The notes are null where no other node shares the store. Default:
   * somebody else calls `reportResult`.
   */
  readonly connect?: (scheduler: ResultTaker, notes: JobStoreNotes | null) => unknown
  /**
   * How many items a firing has, 1 to 1000: jobs of this definition are stored as sharded, with `items: 'remote'`. The
   * node that fires calls it, with the data of job and trigger as they are stored. It answers from memory, changes
   * nothing, and may be called several times. What is no such number counts as the nearest, and an error as 1. Default:
   * a firing is one execution.
   */
  readonly items?: (data: JobDataMap) => number
  /**
   * With `items`: which jobs are stored as sharded, by their data. The others are one execution each, unless they say
   * `withSharding` themselves. What it throws, and a promise, refuses the job. Default: all.
   */
  readonly isSharded?: (data: JobDataMap) => boolean
  /**
   * How many sends of this definition may run at one time on a node without a slot of the thread pool, 1 to 10,000;
   * further ones take a slot each. For a `send` that does little but wait: then many firings that are due at once are
   * claimed and written down in large batches, whatever the size of the pool. Default: each send takes a slot.
   */
  readonly sendsAtOnce?: number
}
