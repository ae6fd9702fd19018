import { InvalidArgumentError } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import { describeValue, refuseUnknownKeys } from '../core/options.ts'
import type { ScheduledExecutorService } from '../executors/scheduled-executor-service.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import type { ErrorHandler } from './error-handler.ts'
import { environmentResolver, type PlaceholderResolver } from './placeholders.ts'
import type { SchedulingConfigurer } from './scheduled-task-registrar.ts'
import type { TaskScheduler } from './task-scheduler.ts'

/** What `enableScheduling` takes wherever the methods run. */
interface EverySchedulingOptions {
  /** Objects with `@Scheduled` methods, and classes with static ones. */
  readonly instances: readonly object[]
  /** Answers placeholders such as `${report.cron}`. Default: the environment, also as `REPORT_CRON`. */
  readonly resolve?: PlaceholderResolver
  /** A pino logger or anything of its shape. Default: says nothing. */
  readonly logger?: Logger
  /** Default: the system's. */
  readonly clock?: Clock
}

/** Runs the methods in this process. */
export interface SchedulingOptions extends EverySchedulingOptions {
  /** What runs the methods. Default: what a configurer sets, else a `ThreadPoolTaskScheduler` of its own. */
  readonly scheduler?: TaskScheduler | ScheduledExecutorService
  /** Add tasks of their own, or the scheduler. Default none. */
  readonly configurers?: readonly SchedulingConfigurer[]
  /**
   * Told of what tasks throw; a `TaskScheduler` that is given has its own. Default: a failure is logged, and the task
   * goes on.
   */
  readonly errorHandler?: ErrorHandler
}

/** Runs the methods as jobs of a scheduler, each planned time once for all instances that share its store. */
export interface ClusterSchedulingOptions extends EverySchedulingOptions {
  /** The scheduler, not started yet. */
  readonly cluster: Scheduler
  /**
   * Names the group of the jobs, `annotations.NAME`: needed where several applications share one scheduler, because
   * what no instance of the application knows is deleted. Default: the group is `annotations`.
   */
  readonly application?: string
  /** Whether jobs are deleted whose methods no live node has any more. Default true. */
  readonly removeUnknown?: boolean
}

const everyName = ['instances', 'resolve', 'logger', 'clock'] as const
const localNames = ['scheduler', 'configurers', 'errorHandler'] as const
const clusterNames = ['cluster', 'application', 'removeUnknown'] as const
const what = 'enableScheduling'

/** What is common, with defaults filled in. */
export interface ResolvedEveryOptions {
  readonly instances: readonly object[]
  readonly resolve: PlaceholderResolver
  readonly logger: Logger
  readonly clock: Clock
}

export function isClustered(
  options: SchedulingOptions | ClusterSchedulingOptions,
): options is ClusterSchedulingOptions {
  return Reflect.get(options, 'cluster') !== undefined
}

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveEveryOptions(
  options: SchedulingOptions | ClusterSchedulingOptions,
): ResolvedEveryOptions {
  refuseUnknownKeys(what, options, [...everyName, ...localNames, ...clusterNames])
  const surplus = (isClustered(options) ? localNames : clusterNames).find(
    (name) => Reflect.get(options, name) !== undefined,
  )
  if (surplus !== undefined) {
    const reason = isClustered(options)
      ? 'does not go with a cluster: leave it out'
      : `is for a cluster: give 'cluster' too`
    throw invalid(surplus, `'${surplus}' ${reason}`)
  }
  const { instances, resolve = environmentResolver, logger = silentLogger, clock = systemClock } = options
  if (!Array.isArray(instances)) {
    throw invalid('instances', `'instances' must be an array of objects, got ${describeValue(instances)}`)
  }
  if (typeof resolve !== 'function') {
    throw invalid('resolve', `'resolve' must be a function, got ${describeValue(resolve)}`)
  }
  return Object.freeze({ instances, resolve, logger, clock })
}

function invalid(field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: ${problem}.`, 'ERR_INVALID_OPTION')
}
