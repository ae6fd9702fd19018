import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, refuseUnknownKeys } from '../core/options.ts'
import { beginningOf } from '../core/text-beginning.ts'
import { jobTypeMaxLength } from '../jobs/define-job.ts'
import { defineWorkerJob } from '../jobs/define-worker-job.ts'

export interface WorkerTaskOptions {
  /** The export of the module to call. Default `default`. */
  readonly exportName?: string
  /** The `mergedJobDataMap` of the function's context: data that can be cloned into a thread. Default none. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** A task that runs in a worker thread and returns a `T`; `defineWorkerTask` makes one. */
export interface WorkerTaskDefinition<T> {
  readonly kind: 'worker'
  /** The file's name, for messages. */
  readonly name: string
  /** `file:` URL of the module. */
  readonly moduleUrl: string
  readonly exportName: string
  readonly data: Readonly<Record<string, unknown>>
  /** Has no value; carries the type of the task's result. */
  readonly answers?: T
}

/**
 * Defines a task that runs in a worker thread: the module's export is called there, as for a worker job.
 *
 * @param moduleUrl `file:` URL of the module, as in `new URL('./thumbs.js', import.meta.url)`
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 * @throws SchedulerError ERR_WORKER_MODULE when the URL is no `file:` URL or there is no such file
 */
export function defineWorkerTask<T = unknown>(
  moduleUrl: URL | string,
  options: WorkerTaskOptions = {},
): WorkerTaskDefinition<T> {
  const name = nameOf(moduleUrl)
  refuseUnknownKeys(`Worker task '${name}'`, options, ['exportName', 'data'])
  const { data = {}, ...jobOptions } = options
  const given: unknown = data
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InvalidArgumentError(
      'data',
      `Worker task '${name}': 'data' must be an object, got ${describeValue(given)}.`,
      'ERR_INVALID_OPTION',
    )
  }
  const job = defineWorkerJob(name, moduleUrl, jobOptions)
  return Object.freeze({
    kind: 'worker',
    name,
    moduleUrl: job.moduleUrl,
    exportName: job.exportName,
    data,
  })
}

function nameOf(moduleUrl: URL | string): string {
  try {
    return beginningOf(basename(fileURLToPath(String(moduleUrl))), jobTypeMaxLength) || 'worker task'
  } catch {
    // What is wrong with it is said when it is checked.
    return 'worker task'
  }
}
