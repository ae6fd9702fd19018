import type { ResourceLimits, SHARE_ENV } from 'node:worker_threads'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, isObject, refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { requireEntryUrl } from '../core/package-files.ts'
import { timerDelayMaxMs } from '../time/clock.ts'
import { defaultPoolSize } from './in-process-thread-pool.ts'
import { requirePoolSize } from './slot-pool.ts'

export interface PiscinaThreadPoolOptions {
  /** Most executions at one time, inline and worker jobs together, 1 to 100,000. Default 10. */
  readonly size?: number
  /**
   * Most threads that run jobs, 1 to `size`. A terminated thread counts until it has exited. Default: enough for every
   * slot to run a worker job (`size / concurrentTasksPerWorker`).
   */
  readonly maxThreads?: number
  /**
   * Threads that are started with the scheduler and stay, 0 to `maxThreads`. Default 0: threads start when worker jobs
   * need them.
   */
  readonly minThreads?: number
  /**
   * Worker jobs that share a thread at one time, 1 to `size`. Default 1. With more, all jobs on a thread fail with
   * ERR_WORKER_FAILED when the thread dies or is terminated.
   */
  readonly concurrentTasksPerWorker?: number
  /**
   * How long an idle thread lives, unless `minThreads` keeps it. Milliseconds, 0 to 2,147,483,647, default 30,000.
   */
  readonly idleTimeoutMs?: number
  /** Limits of each thread; one that exceeds them dies and its job fails with ERR_WORKER_FAILED. Default: Node's. */
  readonly resourceLimits?: ResourceLimits
  /** Node flags of the threads, such as `['--max-http-header-size=16384']`. Default: those of this process. */
  readonly execArgv?: readonly string[]
  /** Environment of the threads. Default: a copy of this process's. */
  readonly env?: Readonly<Record<string, string>> | typeof SHARE_ENV
  /**
   * How threads wait for work: with `disabled`, connections and timers that jobs left open go on between tasks; `sync`
   * stops them. Default `disabled`.
   */
  readonly atomics?: 'disabled' | 'async' | 'sync'
  /**
   * The file that the threads run, as a `file:` URL; needed in a bundle, where the package's own file is elsewhere, as
   * in `new URL(import.meta.resolve('quartz-ts/worker-entry'))`. When there is no such file, `createScheduler` with a
   * worker job among its `jobs` fails with ERR_ENTRY_MISSING. Default: the package's own.
   */
  readonly workerEntry?: URL | string
}

export type ResolvedPiscinaOptions = Readonly<
  Required<Omit<PiscinaThreadPoolOptions, 'resourceLimits' | 'execArgv' | 'env' | 'workerEntry'>> &
    Pick<PiscinaThreadPoolOptions, 'resourceLimits' | 'execArgv' | 'env'> & { readonly workerEntry?: URL }
>

const what = 'piscinaThreadPool'
const atomicsModes: readonly unknown[] = ['disabled', 'async', 'sync']
const resourceLimitNames = [
  'maxYoungGenerationSizeMb',
  'maxOldGenerationSizeMb',
  'codeRangeSizeMb',
  'stackSizeMb',
] as const

/** Fills in the defaults and refuses values out of bounds. */
export function resolvePiscinaOptions(options: PiscinaThreadPoolOptions): ResolvedPiscinaOptions {
  refuseUnknownKeys(what, options, [
    'size',
    'maxThreads',
    'minThreads',
    'concurrentTasksPerWorker',
    'idleTimeoutMs',
    'resourceLimits',
    'execArgv',
    'env',
    'atomics',
    'workerEntry',
  ])
  const size = requirePoolSize(what, options.size ?? defaultPoolSize)
  const integer = (name: 'maxThreads' | 'minThreads' | 'concurrentTasksPerWorker' | 'idleTimeoutMs') => {
    return (value: number, min: number, max: number): number =>
      requireInteger(what, name, options[name] ?? value, { min, max })
  }
  const concurrentTasksPerWorker = integer('concurrentTasksPerWorker')(1, 1, size)
  const maxThreads = integer('maxThreads')(Math.ceil(size / concurrentTasksPerWorker), 1, size)
  const { atomics = 'disabled' } = options
  if (!atomicsModes.includes(atomics)) {
    throw invalid('atomics', `must be one of ${atomicsModes.join(', ')}, got ${describeValue(atomics)}`)
  }
  return Object.freeze({
    size,
    maxThreads,
    minThreads: integer('minThreads')(0, 0, maxThreads),
    concurrentTasksPerWorker,
    idleTimeoutMs: integer('idleTimeoutMs')(30_000, 0, timerDelayMaxMs),
    atomics,
    ...(options.resourceLimits !== undefined && { resourceLimits: requireLimits(options.resourceLimits) }),
    ...(options.execArgv !== undefined && { execArgv: requireFlags(options.execArgv) }),
    ...(options.env !== undefined && { env: requireEnv(options.env) }),
    ...(options.workerEntry !== undefined && {
      workerEntry: requireEntryUrl(what, 'workerEntry', options.workerEntry),
    }),
  })
}

function requireLimits(limits: ResourceLimits): ResourceLimits {
  refuseUnknownKeys(what, limits, resourceLimitNames, 'resourceLimits')
  for (const name of resourceLimitNames) {
    const value = limits[name]
    if (value !== undefined && !(value > 0)) {
      throw invalid(`resourceLimits.${name}`, `must be a number of megabytes, got ${describeValue(value)}`)
    }
  }
  return Object.freeze({ ...limits })
}

function requireFlags(execArgv: readonly string[]): readonly string[] {
  const given: unknown = execArgv
  if (!Array.isArray(given) || given.some((flag) => typeof flag !== 'string')) {
    throw invalid('execArgv', `must be an array of strings, got ${describeValue(given)}`)
  }
  return Object.freeze([...execArgv])
}

function requireEnv(
  env: Readonly<Record<string, string>> | typeof SHARE_ENV,
): Readonly<Record<string, string>> | typeof SHARE_ENV {
  if (typeof env === 'symbol') return env
  if (!isObject(env)) throw invalid('env', `must be an object, got ${describeValue(env)}`)
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== 'string')
      throw invalid(`env.${name}`, `must be a string, got ${describeValue(value)}`)
  }
  return Object.freeze({ ...env })
}

function invalid(field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: '${field}' ${problem}.`, 'ERR_INVALID_OPTION')
}
