import { InvalidArgumentError } from '../core/errors.ts'
import { resolveLogger } from '../core/line-logger.ts'
import { checkLoggerOrFalse, type Logger } from '../core/logger.ts'
import { describeValue, refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { type PiscinaThreadPoolOptions, resolvePiscinaOptions } from '../threadpool/piscina-options.ts'
import { poolSizeMax } from '../threadpool/slot-pool.ts'
import { type Clock, checkClock, systemClock, timerDelayMaxMs } from '../time/clock.ts'
import { requireTickMs } from './hashed-wheel-timer.ts'
import type { ScheduledFuture } from './scheduled-future.ts'
import type { TaskFunction } from './task.ts'

/** The options that `ScheduledExecutor.reconfigure` can change. */
export interface ScheduledExecutorPolicies {
  /** Most tasks that run at one time, 0 to 100,000; 0 counts as one. Default 1. */
  readonly corePoolSize?: number
  /** Take a cancelled task out of the queue at once, instead of when its time comes. Default false. */
  readonly removeOnCancel?: boolean
  /**
   * Whether tasks that are to run once, and whose time has not come at `shutdown`, still run. Those that are due then
   * run in any case. Default true.
   */
  readonly executeExistingDelayedTasksAfterShutdown?: boolean
  /** Whether periodic tasks, due or not, go on after `shutdown`, until they are cancelled. Default false. */
  readonly continueExistingPeriodicTasksAfterShutdown?: boolean
}

export interface ScheduledExecutorOptions extends ScheduledExecutorPolicies {
  /** Whether a periodic task that fails stops, or runs again at its next time. Default `stop`. */
  readonly onError?: 'stop' | 'continue'
  /**
   * The data structure of the waiting tasks. `heap` starts them to the millisecond; `wheel` is for very many short
   * delays, most of them cancelled, and starts tasks up to one `tickMs` late. Default `heap`.
   */
  readonly engine?: 'heap' | 'wheel'
  /** How far the wheel turns at a time. Milliseconds, 1 to 60,000, default 10; only with `engine: 'wheel'`. */
  readonly tickMs?: number
  /** Whether waiting tasks keep the process alive. Default true. */
  readonly ref?: boolean
  /**
   * Called with every function that is scheduled; the function that it returns runs instead. Default: the function
   * itself.
   */
  readonly decorateTask?: (
    task: TaskFunction<unknown>,
    future: ScheduledFuture<unknown>,
  ) => TaskFunction<unknown>
  /**
   * Options of the worker threads, which start when a worker task needs them. Default: one thread for each slot, more
   * once `corePoolSize` is raised. `minThreads` and `maxThreads` may not be above `corePoolSize`.
   */
  readonly threadPool?: Omit<PiscinaThreadPoolOptions, 'size'>
  /**
   * How long an interrupted worker task may take to stop before its thread is ended. Milliseconds, 0 to 2,147,483,647,
   * default 5,000.
   */
  readonly interruptGraceMs?: number
  /**
   * A pino logger or anything of its shape; false: no log. Default: warnings and errors go to stderr, one line
   * each.
   */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
}

export type ResolvedPolicies = Readonly<Required<ScheduledExecutorPolicies>>

/** The options with every default filled in; frozen. */
export interface ResolvedScheduledExecutorOptions {
  readonly policies: ResolvedPolicies
  readonly onError: 'stop' | 'continue'
  readonly engine: 'heap' | 'wheel'
  readonly tickMs: number
  readonly ref: boolean
  readonly decorateTask: NonNullable<ScheduledExecutorOptions['decorateTask']> | null
  readonly threadPool: Omit<PiscinaThreadPoolOptions, 'size'>
  readonly interruptGraceMs: number
  readonly logger: Logger
  readonly clock: Clock
}

const policyNames = [
  'corePoolSize',
  'removeOnCancel',
  'executeExistingDelayedTasksAfterShutdown',
  'continueExistingPeriodicTasksAfterShutdown',
] as const

const defaultPolicies: ResolvedPolicies = Object.freeze({
  corePoolSize: 1,
  removeOnCancel: false,
  executeExistingDelayedTasksAfterShutdown: true,
  continueExistingPeriodicTasksAfterShutdown: false,
})

const what = 'ScheduledExecutor'

/** Fills in the defaults. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveScheduledExecutorOptions(
  options: ScheduledExecutorOptions,
): ResolvedScheduledExecutorOptions {
  refuseUnknownKeys(what, options, [
    ...policyNames,
    'onError',
    'engine',
    'tickMs',
    'ref',
    'decorateTask',
    'threadPool',
    'interruptGraceMs',
    'logger',
    'clock',
  ])
  const { onError = 'stop', engine = 'heap', tickMs, ref = true, decorateTask = null } = options
  const { clock = systemClock } = options
  if (tickMs !== undefined && engine !== 'wheel') throw invalid('tickMs', `is for engine: 'wheel' only`)
  const policies = changedPolicies(defaultPolicies, options)
  const threadPool = requireThreadPool(options.threadPool ?? {}, policies)
  const decorator: unknown = decorateTask
  if (decorator !== null && typeof decorator !== 'function') {
    throw invalid('decorateTask', `must be a function, got ${describeValue(decorator)}`)
  }
  if (options.logger !== undefined) checkLoggerOrFalse(what, 'logger', options.logger, 'ERR_INVALID_OPTION')
  if (options.clock !== undefined) checkClock(what, 'clock', options.clock, 'ERR_INVALID_OPTION')
  return Object.freeze({
    policies,
    onError: requireOneOf('onError', onError, ['stop', 'continue']),
    engine: requireOneOf('engine', engine, ['heap', 'wheel']),
    tickMs: requireTickMs(what, tickMs),
    ref: requireBoolean('ref', ref),
    decorateTask,
    threadPool,
    interruptGraceMs: requireInteger(what, 'interruptGraceMs', options.interruptGraceMs ?? 5_000, {
      min: 0,
      max: timerDelayMaxMs,
    }),
    logger: resolveLogger(options.logger, () => clock.now()),
    clock,
  })
}

/** The policies with the given ones changed, checked. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function reconfiguredPolicies(
  policies: ResolvedPolicies,
  changes: ScheduledExecutorPolicies,
): ResolvedPolicies {
  refuseUnknownKeys(`${what} reconfigure`, changes, policyNames)
  return changedPolicies(policies, changes)
}

function changedPolicies(policies: ResolvedPolicies, changes: ScheduledExecutorPolicies): ResolvedPolicies {
  const flag = (name: Exclude<(typeof policyNames)[number], 'corePoolSize'>): boolean =>
    requireBoolean(name, changes[name] ?? policies[name])
  const corePoolSize = changes.corePoolSize ?? policies.corePoolSize
  return Object.freeze({
    corePoolSize: Math.max(
      1,
      requireInteger(what, 'corePoolSize', corePoolSize, { min: 0, max: poolSizeMax }),
    ),
    removeOnCancel: flag('removeOnCancel'),
    executeExistingDelayedTasksAfterShutdown: flag('executeExistingDelayedTasksAfterShutdown'),
    continueExistingPeriodicTasksAfterShutdown: flag('continueExistingPeriodicTasksAfterShutdown'),
  })
}

/** Checks the options of the worker threads before the first worker task needs them. */
function requireThreadPool(
  threadPool: Omit<PiscinaThreadPoolOptions, 'size'>,
  { corePoolSize }: ResolvedPolicies,
): typeof threadPool {
  const given: unknown = threadPool
  if (typeof given !== 'object') {
    throw invalid('threadPool', `must be an object of options, got ${describeValue(given)}`)
  }
  if ('size' in threadPool) throw invalid('threadPool.size', `is not an option: corePoolSize is the size`)
  resolvePiscinaOptions({ ...threadPool, size: poolSizeMax })
  for (const name of ['concurrentTasksPerWorker', 'maxThreads', 'minThreads'] as const) {
    const value = threadPool[name] ?? 0
    if (value <= corePoolSize) continue
    const remedy = `must not be above corePoolSize, which is ${corePoolSize}; raise that, or lower this`
    throw invalid(`threadPool.${name}`, `${remedy}; got ${value}`)
  }
  resolvePiscinaOptions({ ...threadPool, size: corePoolSize })
  return threadPool
}

function requireBoolean(field: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(field, `must be true or false, got ${describeValue(value)}`)
}

function requireOneOf<Value extends string>(field: string, value: Value, known: readonly Value[]): Value {
  if (known.includes(value)) return value
  throw invalid(field, `must be one of ${known.join(', ')}, got ${describeValue(value)}`)
}

function invalid(field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: '${field}' ${problem}.`, 'ERR_INVALID_OPTION')
}
