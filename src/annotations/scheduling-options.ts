import {
  type ArgumentCheck,
  checkBoolean,
  checkFunction,
  checkMethods,
  checkName,
  checkObject,
  checkOptions,
  listOf,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { resolveLogger } from '../core/line-logger.ts'
import { checkLoggerOrFalse, type Logger } from '../core/logger.ts'
import { describeValue, isObject } from '../core/options.ts'
import type { ScheduledExecutorService } from '../executors/scheduled-executor-service.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { type Clock, checkClock, systemClock } from '../time/clock.ts'
import type { ErrorHandler } from './error-handler.ts'
import { environmentResolver, type PlaceholderResolver } from './placeholders.ts'
import type { SchedulingConfigurer } from './scheduled-task-registrar.ts'
import type { TaskScheduler } from './task-scheduler.ts'

/** Options of `enableScheduling` that hold for both ways to run methods. */
export interface CommonScheduling {
  /** Objects with `@Scheduled` methods, and classes with static ones. */
  readonly instances: readonly object[]
  /** Returns the values of placeholders such as `${report.cron}`. Default: the environment, also as `REPORT_CRON`. */
  readonly resolve?: PlaceholderResolver
}

/**
 * Runs the methods in this process. A `TaskScheduler` that is given, or set by a configurer, has its own `clock` and
 * `logger`, and these are not used then.
 */
export interface SchedulingOptions extends CommonScheduling {
  /** What runs the methods. Default: what a configurer sets, else a `ThreadPoolTaskScheduler` of its own. */
  readonly scheduler?: TaskScheduler | ScheduledExecutorService
  /** Add tasks of their own, or the scheduler. Default none. */
  readonly configurers?: readonly SchedulingConfigurer[]
  /**
   * Called with what tasks throw; a given `TaskScheduler` has its own handler. Default: a failure is logged, and the
   * task goes on.
   */
  readonly errorHandler?: ErrorHandler
  /**
   * A pino logger or anything of its shape; false: no log. Default: warnings and errors go to stderr, one line
   * each.
   */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
}

/** Runs the methods as jobs of a scheduler, each planned time once for all instances that share its store. */
export interface ClusterSchedulingOptions extends CommonScheduling {
  /** The scheduler, not started yet. */
  readonly cluster: Scheduler
  /**
   * Names the group of the jobs, `annotations.NAME`: needed where several applications share one scheduler, because
   * jobs that no instance of the application knows are deleted. Default: the group is `annotations`.
   */
  readonly application?: string
  /** Whether jobs whose methods no live node has any more are deleted. Default true. */
  readonly removeUnknown?: boolean
  /** A pino logger or anything of its shape; false: no log. Default: that of the scheduler. */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the scheduler's. */
  readonly clock?: Clock
}

const localNames = ['scheduler', 'configurers', 'errorHandler'] as const
const clusterNames = ['cluster', 'application', 'removeUnknown'] as const
const what = 'enableScheduling'

const optionChecks: Readonly<
  Record<keyof SchedulingOptions | keyof ClusterSchedulingOptions, ArgumentCheck>
> = {
  // Their contents are checked where their methods are read.
  instances: () => {},
  resolve: checkFunction,
  logger: checkLoggerOrFalse,
  clock: checkClock,
  scheduler: checkMethods('a TaskScheduler or an executor', ['schedule', 'scheduleAtFixedRate']),
  configurers: listOf(checkMethods('a configurer', ['configureTasks'])),
  errorHandler: checkFunction,
  cluster: checkMethods('a Scheduler', ['scheduleJobs', 'registerJobs'], 'Make one with createScheduler.'),
  application: checkName,
  removeUnknown: checkBoolean,
}

/** The common options with defaults filled in. */
export interface ResolvedEveryOptions {
  readonly instances: readonly object[]
  readonly resolve: PlaceholderResolver
  readonly logger: Logger
  readonly clock: Clock
}

export function isClustered(
  options: SchedulingOptions | ClusterSchedulingOptions,
): options is ClusterSchedulingOptions {
  // Checked before it is known to be an object of options.
  return isObject(options) && Reflect.get(options, 'cluster') !== undefined
}

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveEveryOptions(
  options: SchedulingOptions | ClusterSchedulingOptions,
): ResolvedEveryOptions {
  checkObject(what, 'options', options)
  checkOptions(what, options, optionChecks)
  const surplus = (isClustered(options) ? localNames : clusterNames).find(
    (name) => Reflect.get(options, name) !== undefined,
  )
  if (surplus !== undefined) {
    const reason = isClustered(options)
      ? 'does not go with a cluster: leave it out'
      : `is for a cluster: give 'cluster' too`
    throw invalid(surplus, `'${surplus}' ${reason}`)
  }
  const { instances, resolve = environmentResolver } = options
  if (!Array.isArray(instances)) {
    throw invalid('instances', `'instances' must be an array of objects, got ${describeValue(instances)}`)
  }
  return Object.freeze({ instances, resolve, ...surroundingsOf(options) })
}

/** Methods in a cluster go by the clock of the scheduler that runs them, and log where it does. */
function surroundingsOf(
  options: SchedulingOptions | ClusterSchedulingOptions,
): Pick<ResolvedEveryOptions, 'clock' | 'logger'> {
  const scheduler = isClustered(options) ? options.cluster : null
  const clock = options.clock ?? scheduler?.clock ?? systemClock
  const isLeft = options.logger === undefined && scheduler !== null
  return { clock, logger: isLeft ? scheduler.logger : resolveLogger(options.logger, () => clock.now()) }
}

function invalid(field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: ${problem}.`, 'ERR_INVALID_OPTION')
}
