import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkName, checkOptions, wrongArgument } from '../../../core/arguments.ts'
import { SchedulerError } from '../../../core/errors.ts'
import { describeValue } from '../../../core/options.ts'
import type { XxlJobContext } from '../run-context.ts'

/** A handler: what it returns is ignored, what it throws fails the run. */
export type XxlJobFunction = (context: XxlJobContext) => unknown

/** A handler with something to prepare and to clean up. */
export interface XxlJobHandlerObject {
  execute(context: XxlJobContext): unknown
  /**
   * Called before the first run of a job with this handler, and again before the first one after `destroy`. Jobs that
   * run it at the same time share what it makes. It waits for a `destroy` that is under way, at most 30 seconds.
   */
  init?(): unknown
  /**
   * Called when the last job that uses the handler has ended: when it had nothing to do for 93 seconds, was replaced or
   * killed. No run of the handler is under way then, except one that goes on for more than ten seconds after that: the
   * next run of a job does not wait for a function that passes its timeout.
   */
  destroy?(): unknown
}

/** A handler in a module whose export is called in a worker thread; `defineXxlJobWorker` makes one. */
export interface XxlJobWorker {
  readonly kind: 'worker'
  /** `file:` URL of the module. */
  readonly moduleUrl: string
  readonly exportName: string
}

export type XxlJobHandler = XxlJobFunction | XxlJobHandlerObject | XxlJobWorker

/** Options of `defineXxlJobWorker`. */
export interface XxlJobWorkerOptions {
  /** The export of the module to call. Default `default`. */
  readonly exportName?: string
}

/**
 * Defines a handler that runs in a worker thread: the module's export is called there with the context of the run.
 *
 * @param moduleUrl `file:` URL of the module, as in `new URL('./thumbs.js', import.meta.url)`
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 * @throws SchedulerError ERR_WORKER_MODULE when the URL is no `file:` URL or there is no such file
 */
export function defineXxlJobWorker(moduleUrl: URL | string, options: XxlJobWorkerOptions = {}): XxlJobWorker {
  checkOptions('defineXxlJobWorker', options, { exportName: checkName })
  const text = String(moduleUrl)
  const isFile =
    URL.canParse(text) &&
    new URL(text).protocol === 'file:' &&
    statSync(fileURLToPath(text), { throwIfNoEntry: false })?.isFile() === true
  if (!isFile) {
    throw new SchedulerError(
      'ERR_WORKER_MODULE',
      `defineXxlJobWorker: ${describeValue(text)} is not the URL of a file that is there. ` +
        "Pass one, as in new URL('./job.js', import.meta.url); a compiled project must name the compiled file.",
    )
  }
  return Object.freeze({
    kind: 'worker',
    moduleUrl: new URL(text).href,
    exportName: options.exportName ?? 'default',
  })
}

export function isWorkerHandler(handler: XxlJobHandler): handler is XxlJobWorker {
  return typeof handler === 'object' && isWorker(handler)
}

function isWorker(value: object): boolean {
  return Reflect.get(value, 'kind') === 'worker' && typeof Reflect.get(value, 'moduleUrl') === 'string'
}

/** @throws InvalidArgumentError for what is no handler */
export function checkHandler(method: string, name: string, value: unknown): asserts value is XxlJobHandler {
  if (typeof value === 'function') return
  if (typeof value === 'object' && value !== null) {
    if (isWorker(value)) return
    const ends = [Reflect.get(value, 'init'), Reflect.get(value, 'destroy')]
    const areFunctions = ends.every((end) => end === undefined || typeof end === 'function')
    if (typeof Reflect.get(value, 'execute') === 'function' && areFunctions) return
  }
  const wanted = 'a function, an object with execute, or what defineXxlJobWorker made'
  throw wrongArgument(method, name, wanted, value, { code: 'ERR_INVALID_OPTION' })
}
