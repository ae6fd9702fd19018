import { fileURLToPath } from 'node:url'
import { SchedulerError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import type { WorkerJobFunction } from '../jobs/job-definition.ts'
import { loaderAdvice } from './typescript-modules.ts'

/**
 * Loads a worker job's module in this thread and finds its function.
 *
 * @throws SchedulerError ERR_WORKER_MODULE when the module does not load, or its export is missing or no function
 */
export async function loadWorkerFunction(moduleUrl: string, exportName: string): Promise<WorkerJobFunction> {
  const path = fileURLToPath(moduleUrl)
  let module: Record<string, unknown>
  try {
    module = (await import(/* webpackIgnore: true */ moduleUrl)) as Record<string, unknown>
  } catch (error) {
    throw new SchedulerError(
      'ERR_WORKER_MODULE',
      `The worker module '${path}' cannot be loaded: ${messageOf(error)}${adviceFor(error)}`,
      { cause: error },
    )
  }
  const found = findExport(module, exportName)
  if (typeof found === 'function') return found as WorkerJobFunction
  const names = Object.keys(module)
  const exported = names.length === 0 ? 'It exports nothing' : `It exports ${names.join(', ')}`
  const problem =
    found === undefined
      ? `has no export '${exportName}'. ${exported}`
      : `exports '${exportName}' as ${describeValue(found)}, not as a function. ${exported}`
  throw new SchedulerError(
    'ERR_WORKER_MODULE',
    `The worker module '${path}' ${problem}. Export the job's function, or name another with exportName.`,
  )
}

/**
 * Whether an error says that the import of a module failed. Node remembers that in this thread, where no further import
 * of the module succeeds then. Only that the file of the module itself is missing, Node may forget.
 */
export function isFailedImport(error: unknown): boolean {
  return SchedulerError.is(error) && error.code === 'ERR_WORKER_MODULE' && error.cause !== undefined
}

/** An export of an ES module, or a property of what a CommonJS module exports. */
function findExport(module: Record<string, unknown>, exportName: string): unknown {
  const found = module[exportName]
  if (typeof found === 'function') return found
  const commonJs = module['default']
  if (typeof commonJs !== 'object' || commonJs === null) return found
  const inner: unknown = Reflect.get(commonJs, exportName)
  return typeof inner === 'function' ? inner : found
}

/** A loader that was given did not load TypeScript. */
function adviceFor(error: unknown): string {
  const isTypeScript = /Unknown file extension "\.[mc]?tsx?"/.test(messageOf(error))
  return isTypeScript ? `. The threads need a loader. ${loaderAdvice}` : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : describeValue(error)
}
