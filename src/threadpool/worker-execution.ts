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
    try {
      if (message[0] === 'progress') {
        this.handlers.onProgress(message[2])
      } else {
        const [level, fields, text] = message[2]
        this.handlers.onLog(level, decodeFields(fields), text)
      }
    } catch (error) {
      // A handler that throws must not keep the task from ending.
      this.#logger.error({ err: error, job: this.jobName }, 'The handler of progress and log lines threw')
    }
  }

  end(end: TaskEnd): void {
    if (end[1]) this.#resolve({ result: end[2], jobDataMap: end[3] ?? this.task.jobDataMap })
    else this.fail(decodeValue(end[2]))
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
