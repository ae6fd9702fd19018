import type { SchedulerError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { ClockTimer } from '../time/clock.ts'
import type { WorkerTaskHandlers } from './thread-pool.ts'
import { decodeFields, decodeValue } from './value-wire.ts'
import type { TaskEnd, WorkerMessage, WorkerTask, WorkerTaskResult } from './wire.ts'

/** The part of a thread that its executions use. */
export interface ExecutionThread {
  /** The executions that run on the thread or wait for it, by tag. */
  readonly executions: ReadonlyMap<number, WorkerExecution>
  /** Aborting it ends the thread. */
  readonly termination: AbortController
  /** Withdraws an execution that was not sent yet; false when it was sent. */
  retract(execution: WorkerExecution): boolean
  /** Passes the execution's interrupt on. */
  abort(execution: WorkerExecution): void
}

/** A worker task on the main thread: which thread has it, and which promise to settle. */
export class WorkerExecution {
  readonly tag: number
  readonly task: WorkerTask
  readonly handlers: WorkerTaskHandlers
  readonly #logger: Logger
  readonly #resolve: (result: WorkerTaskResult) => void
  readonly #reject: (error: unknown) => void
  /** The thread that has the task; null while the task waits for one. */
  thread: ExecutionThread | null = null
  /** Why the pool ended the thread under the task; null when it did not. */
  terminated: SchedulerError | null = null
  onAbort: (() => void) | null = null
  /** Armed from the interrupt to the end of the task's grace period. */
  graceTimer: ClockTimer | null = null

  constructor(
    tag: number,
    task: WorkerTask,
    handlers: WorkerTaskHandlers,
    logger: Logger,
    resolve: (result: WorkerTaskResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.tag = tag
    this.task = task
    this.handlers = handlers
    this.#logger = logger
    this.#resolve = resolve
    this.#reject = reject
  }

  /** `group.name` of the job, for messages. */
  get jobName(): string {
    return `${this.task.job.group}.${this.task.job.name}`
  }

  receive(message: Extract<WorkerMessage, readonly ['progress' | 'log', ...unknown[]]>): void {
    this.#handle(() => {
      if (message[0] === 'progress') {
        this.handlers.onProgress(message[2])
      } else {
        const [level, fields, text] = message[2]
        this.handlers.onLog(level, decodeFields(fields), text)
      }
    })
  }

  end(end: TaskEnd): void {
    const [, isOk, outcome, jobDataMap, refusal] = end
    if (refusal !== null) {
      this.#handle(() => {
        this.handlers.onJobDataRefused(decodeValue(refusal))
      })
    }
    if (isOk) {
      this.#resolve({ result: outcome, jobDataMap: jobDataMap ?? this.task.jobDataMap })
      return
    }
    this.#handle(() => {
      if (jobDataMap !== null) this.handlers.onJobData(jobDataMap)
    })
    this.fail(decodeValue(outcome))
  }

  /** A handler that throws must not keep the task from ending. */
  #handle(handle: () => void): void {
    try {
      handle()
    } catch (error) {
      this.#logger.error({ err: error, job: this.jobName }, 'A handler of what a worker job reports threw')
    }
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
