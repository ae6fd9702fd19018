import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SchedulerError } from '../core/errors.ts'

const typescriptExtensions: readonly string[] = ['.ts', '.mts', '.cts', '.tsx']
const loaderFlag = /(^|\s)(--import|--loader|--experimental-loader|--require|-r)([=\s]|$)/
/** Node says in `process.features` that it has this flag from 22.10 on; it knows it from 22.6 on. */
const strippingFlag = /(^|\s)--experimental-(strip|transform)-types(\s|$)/

/** What decides whether a thread can load TypeScript. */
export interface ThreadFlags {
  /** Flags that the pool gives its threads; undefined when they inherit those of the process. */
  readonly execArgv: readonly string[] | undefined
  readonly env: Readonly<Record<string, string>> | symbol | undefined
}

/**
 * Refuses a TypeScript module that a thread could not load: Node strips types itself from 22.18 and 23.6 on, before
 * that a flag (from 22.6 on) or a loader is needed. A given loader is not checked here: an unfit one fails when the
 * module is loaded.
 *
 * @throws SchedulerError ERR_WORKER_MODULE
 */
export function requireRunnableModule(moduleUrl: string, flags: ThreadFlags): void {
  const path = fileURLToPath(moduleUrl)
  if (!typescriptExtensions.includes(extname(path))) return
  const isStrippable = !path.endsWith('.tsx')
  if (isStrippable && Boolean(Reflect.get(process.features, 'typescript'))) return
  const nodeOptions = typeof flags.env === 'object' ? flags.env['NODE_OPTIONS'] : process.env['NODE_OPTIONS']
  const given = [...(flags.execArgv ?? process.execArgv), nodeOptions ?? ''].join(' ')
  if (loaderFlag.test(given) || (isStrippable && strippingFlag.test(given))) return
  throw new SchedulerError(
    'ERR_WORKER_MODULE',
    `The worker module '${path}' is TypeScript, which the threads of Node ${process.versions.node} cannot load. ` +
      'Compile it and name the compiled file, or use Node 22.18 or later, or give the threads a loader. ' +
      loaderAdvice,
  )
}

/** `--import tsx` does nothing in a thread of Node 20, where tsx registers itself in the main thread alone. */
export const loaderAdvice: string =
  'For tsx that is a JavaScript file with two lines, `import { register } from "tsx/esm/api"` and `register()`, and ' +
  "piscinaThreadPool({ execArgv: ['--import', new URL('./register-tsx.js', import.meta.url).href] })."
