import type { MessagePort } from 'node:worker_threads'
import { SchedulerError } from '../core/errors.ts'
import { jobKey, triggerKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import type { JobRunContext } from '../jobs/job-execution-context.ts'
import { describeUncloneable, encodeFields, isCloneable } from './value-wire.ts'
import type { LogLevel, TaskEnd, WorkerMessage, WorkerTask } from './wire.ts'

/** One task in the thread that runs it. */
export class WorkerRun {
  readonly #port: MessagePort
  readonly #tag: number
  readonly #task: WorkerTask
  #abortController: AbortController | null = null
  #abortReason: { readonly value: unknown } | null = null
  /** The job's data once the job has seen it: only then can it have changed. */
  #jobDataMap: Record<string, unknown> | null = null
  /** Messages sent on the port so far. */
  sent = 0

  constructor(port: MessagePort, tag: number, task: WorkerTask) {
    this.#port = port
    this.#tag = tag
    this.#task = task
  }

  abort(reason: unknown): void {
    this.#abortReason = { value: reason }
    this.#abortController?.abort(reason)
  }

  /** What the job function is given. The signal and the data are made when the job asks for them. */
  context(): JobRunContext {
    const task = this.#task
    const signal = (): AbortSignal => this.#signal()
    const jobDataMap = (): Record<string, unknown> => (this.#jobDataMap ??= { ...task.jobDataMap })
    return {
      jobKey: jobKey(task.job.name, task.job.group),
      triggerKey: triggerKey(task.trigger.name, task.trigger.group),
      fireInstanceId: task.fireInstanceId,
      mergedJobDataMap: { ...task.mergedJobDataMap },
      fireTime: new Date(task.fireTimeMs),
      scheduledFireTime: new Date(task.scheduledFireTimeMs),
      previousFireTime: dateOrNull(task.previousFireTimeMs),
      nextFireTime: dateOrNull(task.nextFireTimeMs),
      recovering: task.recovering,
      refireCount: task.refireCount,
      attempt: task.attempt,
      log: this.#logger(),
      get signal() {
        return signal()
      },
      get jobDataMap() {
        return jobDataMap()
      },
      progress: (value) => {
        this.#sendChecked(['progress', this.#tag, value], 'progress', value)
      },
    }
  }

  /** Sends what the job leaves behind and answers the end of the task. */
  end(result: unknown): TaskEnd {
    if (this.#jobDataMap !== null) {
      this.#sendChecked(['jobData', this.#tag, this.#jobDataMap], 'jobDataMap', this.#jobDataMap)
    }
    const isPlain = result === null || (typeof result !== 'object' && isCloneable(result))
    if (isPlain) return [true, this.sent, result]
    this.#sendChecked(['result', this.#tag, result], 'result', result)
    return [true, this.sent, undefined]
  }

  #signal(): AbortSignal {
    if (this.#abortController === null) {
      this.#abortController = new AbortController()
      if (this.#abortReason !== null) this.#abortController.abort(this.#abortReason.value)
    }
    return this.#abortController.signal
  }

  #logger(): Logger {
    const log = (level: LogLevel, fields: object, message: string): void => {
      this.#send(['log', this.#tag, level, encodeFields(fields), message])
    }
    return {
      debug: (fields, message) => {
        log('debug', fields, message)
      },
      info: (fields, message) => {
        log('info', fields, message)
      },
      warn: (fields, message) => {
        log('warn', fields, message)
      },
      error: (fields, message) => {
        log('error', fields, message)
      },
    }
  }

  #send(message: WorkerMessage): void {
    this.#port.postMessage(message)
    this.sent++
  }

  #sendChecked(message: WorkerMessage, what: string, value: unknown): void {
    try {
      this.#send(message)
    } catch (error) {
      throw new SchedulerError(
        'ERR_WORKER_DATA',
        `The ${what} of job '${this.#task.job.group}.${this.#task.job.name}' cannot cross from its worker thread: ` +
          `${findUncloneable(what, value)}. Pass plain data.`,
        { cause: error },
      )
    }
  }
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

/** Names the part of a value that keeps it from being cloned. */
function findUncloneable(path: string, value: unknown, depth = 0): string {
  if (typeof value === 'object' && value !== null && depth < 20) {
    for (const key of Object.keys(value)) {
      const inner = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`
      let part: unknown
      try {
        part = Reflect.get(value, key)
      } catch {
        return `'${inner}' throws when it is read`
      }
      if (!isCloneable(part)) return findUncloneable(inner, part, depth + 1)
    }
  }
  return `'${path}' holds ${describeUncloneable(value)}`
}
