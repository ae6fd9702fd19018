import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import type { StorableJobData } from '../core/job-data-type.ts'
import { describeValue, refuseUnknownKeys } from '../core/options.ts'
import {
  type JobOptions,
  jobOptionNames,
  requireJobType,
  resolveJobOptions,
  type WithSchema,
} from './define-job.ts'
import type { WorkerJobDefinition } from './job-definition.ts'

export interface WorkerJobOptions<Data extends object = Record<string, unknown>> extends JobOptions<Data> {
  /** The export of the module to call. Default `default`. */
  readonly exportName?: string
}

/**
 * Defines a job that runs in a worker thread: the module's export is called there with a `JobRunContext`.
 *
 * @param jobType the name under which jobs of this kind are stored: the same on every node, for ever;
 *   at most 250 characters
 * @param moduleUrl `file:` URL of the module, as in `new URL('./thumbs.js', import.meta.url)`. A TypeScript module
 *   works where the pool's threads can load it: see `ThreadPool.checkWorkerModule`.
 * @throws InvalidArgumentError when the name or an option is wrong
 * @throws SchedulerError ERR_WORKER_MODULE when the URL is no `file:` URL or there is no such file
 */
export function defineWorkerJob<Stored extends StorableJobData<Stored>, Data extends object = Stored>(
  jobType: string,
  moduleUrl: URL | string,
  options: WorkerJobOptions<Data> & WithSchema<Data, Stored>,
): WorkerJobDefinition<Data, Stored>
export function defineWorkerJob<Data extends StorableJobData<Data> = Record<string, unknown>>(
  jobType: string,
  moduleUrl: URL | string,
  options?: WorkerJobOptions<Data>,
): WorkerJobDefinition<Data>
export function defineWorkerJob<Data extends object>(
  jobType: string,
  moduleUrl: URL | string,
  options: WorkerJobOptions<Data> = {},
): WorkerJobDefinition<Data> {
  requireJobType(jobType)
  const names = [...jobOptionNames, 'exportName']
  refuseUnknownKeys(`Job '${jobType}'`, options, names)
  const { exportName = 'default' }: { readonly exportName?: unknown } = options
  if (typeof exportName !== 'string' || exportName === '') {
    throw new InvalidArgumentError(
      'exportName',
      `Job '${jobType}': 'exportName' must be the name of an export, got ${describeValue(exportName)}.`,
      'ERR_INVALID_OPTION',
    )
  }
  return Object.freeze({
    kind: 'worker',
    jobType,
    moduleUrl: requireModuleFile(jobType, moduleUrl),
    exportName,
    ...resolveJobOptions(jobType, options),
  })
}

function requireModuleFile(jobType: string, moduleUrl: URL | string): string {
  const remedy = "Pass a file URL, as in new URL('./job.js', import.meta.url)."
  const given: unknown = moduleUrl
  const text = typeof given === 'string' || given instanceof URL ? String(given) : ''
  if (!URL.canParse(text)) {
    throw new SchedulerError(
      'ERR_WORKER_MODULE',
      `Worker job '${jobType}': ${describeValue(given)} is not a URL. ${remedy}`,
    )
  }
  const url = new URL(text)
  if (url.protocol !== 'file:') {
    throw new SchedulerError(
      'ERR_WORKER_MODULE',
      `Worker job '${jobType}': the module must be a file, got a ${url.protocol} URL ` +
        `(${describeValue(text)}). ${remedy}`,
    )
  }
  const path = pathOf(
    url,
    (problem) => `Worker job '${jobType}': ${describeValue(text)}: ${problem}. ${remedy}`,
  )
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new SchedulerError(
      'ERR_WORKER_MODULE',
      `Worker job '${jobType}': there is no file '${path}'. Check the URL; ` +
        'a compiled project must name the compiled file.',
    )
  }
  return url.href
}

function pathOf(url: URL, describe: (problem: string) => string): string {
  try {
    return fileURLToPath(url)
  } catch (cause) {
    // A host of another machine, or an encoded slash.
    throw new SchedulerError('ERR_WORKER_MODULE', describe((cause as Error).message), { cause })
  }
}
