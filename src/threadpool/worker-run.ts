import { SchedulerError } from '../core/errors.ts'
import { copyJobData } from '../core/job-data-map.ts'
import { fieldsAndMessage, type JobLog } from '../core/job-log.ts'
import { jobKey, triggerKey } from '../core/key.ts'
import type { JobRunContext } from '../jobs/job-run-context.ts'
import { describeUncloneable, encodeFields, encodeValue, isCloneable, isRecord } from './value-wire.ts'
import type { LogLevel, LogLine, Refusal, TaskEnd, WorkerTask } from './wire.ts'

/** Where a task's progress and log lines go. */
export interface RunChannel {
  /** @throws DataCloneError when the value cannot cross */
  progress(tag: number, value: unknown): void
  log(tag: number, line: LogLine, task: WorkerTask): void
}

/** One task in the thread that runs it. */
export class WorkerRun {
  readonly #channel: RunChannel
  readonly #tag: number
  readonly #task: WorkerTask
  #log: JobLog | null = null
  #abortController: AbortController | null = null
  #abortReason: { readonly value: unknown } | null = null
  /** The job's data once the job has read them: only then can they have changed. */
  #jobDataMap: Record<string, unknown> | null = null

  constructor(channel: RunChannel, tag: number, task: WorkerTask) {
    this.#channel = channel
    this.#tag = tag
    this.#task = task
  }

  abort(reason: unknown): void {
    this.#abortReason = { value: reason }
    this.#abortController?.abort(reason)
  }

  /** The context that the job function gets. Parts that most jobs never read are made when the job reads them. */
  context(): JobRunContext {
    const task = this.#task
    const signal = (): AbortSignal => this.#signal()
    const jobDataMap = (): Record<string, unknown> => (this.#jobDataMap ??= { ...task.jobDataMap })
    const log = (): JobLog => (this.#log ??= this.#makeLog())
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
      shard: task.shard,
      traceContext: task.traceContext,
      get signal() {
        return signal()
      },
      get log() {
        return log()
      },
      get jobDataMap() {
        return jobDataMap()
      },
      progress: (value) => {
        try {
          this.#channel.progress(this.#tag, value)
        } catch (error) {
          throw this.#uncloneable('progress', value, error)
        }
      },
    }
  }

  end(result: unknown): TaskEnd {
    if (typeof result === 'function' || typeof result === 'symbol') throw this.#uncloneable('result', result)
    return [this.#tag, true, result, this.#jobDataMap, this.#refusal()]
  }

  failed(thrown: unknown, refusal: Refusal = this.#refusal()): TaskEnd {
    const crosses = typeof thrown !== 'function' && typeof thrown !== 'symbol'
    const wire = encodeValue(crosses ? thrown : this.#uncloneable('thrown value', thrown))
    return [this.#tag, false, wire, isCloneable(this.#jobDataMap) ? this.#jobDataMap : null, refusal]
  }

  /** The end as it is when it can be cloned, else a failure that names what cannot. */
  checkEnd(end: TaskEnd): TaskEnd {
    if (!end[1]) return end
    const [, , result, jobDataMap] = end
    if (!isCloneable(result)) return this.failed(this.#uncloneable('result', result))
    if (isCloneable(jobDataMap)) return end
    // The failure names what there is to refuse.
    return this.failed(this.#uncloneable('jobDataMap', jobDataMap), null)
  }

  /** Asked here, because a clone lacks what would be refused: symbols as keys, prototypes. */
  #refusal(): Refusal {
    if (this.#jobDataMap === null) return null
    const { name, group } = this.#task.job
    try {
      copyJobData(`job ${group}.${name}`, this.#jobDataMap)
      return null
    } catch (error) {
      return encodeValue(error)
    }
  }

  #signal(): AbortSignal {
    if (this.#abortController === null) {
      this.#abortController = new AbortController()
      if (this.#abortReason !== null) this.#abortController.abort(this.#abortReason.value)
    }
    return this.#abortController.signal
  }

  #makeLog(): JobLog {
    const at =
      (level: LogLevel) =>
      (fields: unknown, message?: unknown): void => {
        const [line, text] = fieldsAndMessage(fields, message)
        this.#channel.log(this.#tag, [level, encodeFields(line), text], this.#task)
      }
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  }

  #uncloneable(what: string, value: unknown, cause?: unknown): SchedulerError {
    const { name, group } = this.#task.job
    return new SchedulerError(
      'ERR_WORKER_DATA',
      `The ${what} of job '${group}.${name}' cannot cross from its worker thread: ` +
        `${findUncloneable(what, value)}. Pass plain data.`,
      cause === undefined ? undefined : { cause },
    )
  }
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

/** How far into a value the part is looked for that keeps it from being cloned. */
const depthMax = 20

/** Names that part. */
function findUncloneable(path: string, value: unknown, depth = 0): string {
  try {
    // What is plain so far in and cannot be copied is too deep for the stack, or close to what is not plain.
    if (depth === depthMax && (Array.isArray(value) || isRecord(value))) {
      return `'${path}' is nested too deep, or holds what is not plain further inside`
    }
    const isOpen = typeof value === 'object' && value !== null && depth < depthMax
    for (const key of isOpen ? Object.keys(value) : []) {
      const inner = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`
      let part: unknown
      try {
        part = Reflect.get(value as object, key)
      } catch {
        return `'${inner}' throws when it is read`
      }
      if (!isCloneable(part)) return findUncloneable(inner, part, depth + 1)
    }
    return `'${path}' holds ${describeUncloneable(value)}`
  } catch {
    // A revoked proxy, or one with a trap that throws.
    return `'${path}' throws when it is read`
  }
}
