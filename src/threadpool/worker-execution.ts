import type { SchedulerError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Timer } from '../time/clock.ts'
import type { WorkerTaskHandlers } from './thread-pool.ts'
import { decodeFields, decodeValue } from './value-wire.ts'
import type { TaskEnd, WorkerMessage, WorkerTask, WorkerTaskResult } from './wire.ts'

/** A worker task as the scheduler's side sees it: what has come back so far, and what was done to it. */
export class WorkerExecution {
  readonly tag: number
  readonly task: WorkerTask
  readonly handlers: WorkerTaskHandlers
  /** How the task ended. */
  readonly result: Promise<WorkerTaskResult>
  readonly #logger: Logger
  #resolve: (result: WorkerTaskResult) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  /** A result that came as a message, which an object does. */
  #sentResult: { readonly value: unknown } | null = null
  #jobDataMap: WorkerTaskResult['jobDataMap']
  /** Messages read so far. */
  received = 0
  /** The thread that the task was given to; null while it waits for one. */
  threadId: number | null = null
  /** Why the pool ended the thread under the task; null when it did not. */
  terminated: SchedulerError | null = null
  onAbort: () => void = () => {}
  /** Runs from the interrupt to the end of the grace that a task has. */
  graceTimer: Timer | null = null

  constructor(tag: number, task: WorkerTask, handlers: WorkerTaskHandlers, logger: Logger) {
    this.tag = tag
    this.task = task
    this.handlers = handlers
    this.#logger = logger
    this.#jobDataMap = task.jobDataMap
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** `group.name` of the job, for messages. */
  get jobName(): string {
    return `${this.task.job.group}.${this.task.job.name}`
  }

  receive(message: WorkerMessage): void {
    this.received++
    switch (message[0]) {
      case 'result':
        this.#sentResult = { value: message[2] }
        return
      case 'jobData':
        this.#jobDataMap = message[2]
        return
      case 'progress':
        this.#tell(() => {
          this.handlers.onProgress(message[2])
        })
        return
      case 'log':
        this.#tell(() => {
          this.handlers.onLog(message[2], decodeFields(message[3]), message[4])
        })
    }
  }

  end(end: TaskEnd): void {
    if (!end[0]) {
      this.fail(decodeValue(end[2]))
      return
    }
    const result = this.#sentResult === null ? end[2] : this.#sentResult.value
    this.#resolve({ result, jobDataMap: this.#jobDataMap })
  }

  fail(error: unknown): void {
    this.#reject(error)
  }

  /** A handler that throws must not keep the task from ending. */
  #tell(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#logger.error(
        { err: error, job: this.jobName },
        'What takes the progress and log lines of a job threw',
      )
    }
  }
}
