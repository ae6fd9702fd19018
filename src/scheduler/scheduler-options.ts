import { hostname } from 'node:os'
import {
  type ArgumentCheck,
  checkBoolean,
  checkData,
  checkFunction,
  checkMethods,
  checkName,
  checkObject,
  checkOptions,
  checkThat,
  isName,
  listOf,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { checkIds, type IdGenerator, systemIds } from '../core/ids.ts'
import { defaultMaxJobDataBytes } from '../core/job-data-map.ts'
import { resolveLogger } from '../core/line-logger.ts'
import { checkLoggerOrFalse, type Logger } from '../core/logger.ts'
import { isObject, requireInteger } from '../core/options.ts'
import { checkJobSource } from '../jobs/define-job.ts'
import type { JobFactory, JobSource } from '../jobs/job-definition.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import { AdjustableClock } from '../time/adjustable-clock.ts'
import { type Clock, checkClock, systemClock, timerDelayMaxMs } from '../time/clock.ts'
import { type Calendar, checkCalendar } from '../triggers/calendars/calendar.ts'
import { TriggerFamilies } from '../triggers/families/trigger-families.ts'
import type { TriggerFamily } from '../triggers/trigger-family.ts'
import { checkDefinitions } from './define-schedule.ts'
import type { ScheduleDefinition, ScheduleSet } from './schedule-definition.ts'
import type { SchedulerPlugin } from './scheduler-plugin.ts'

/** The options of a scheduler except store and pool. */
export interface SchedulerBehaviour {
  /** The code that may run: job definitions and job classes. Default none. */
  readonly jobs?: readonly JobSource[]
  /**
   * Makes the objects of class jobs, so that they get what their constructors take: a container's `get`, or a function
   * that knows the classes. Default: `new jobClass()`, and a class whose constructor takes something is refused.
   */
  readonly jobFactory?: JobFactory
  /**
   * Calendars that the scheduler has, by name, stored before `schedules`. One that is the same leaves its triggers
   * alone, a changed one computes their next fire times anew, and none is removed. Default none.
   */
  readonly calendars?: Readonly<Record<string, Calendar>>
  /**
   * Schedules that the scheduler has: a set that `reconcile` makes what is given here, before createScheduler resolves.
   * A list is the set `default`, without a version. Default none, which changes nothing.
   */
  readonly schedules?: readonly ScheduleDefinition[] | ScheduleSet
  /**
   * Trigger families besides those of this library. Every node that shares a store must name those whose triggers it
   * stores. Default none.
   */
  readonly triggerFamilies?: readonly TriggerFamily[]
  /** Schedulers of one name share the data of a store. Default `QuartzScheduler`. */
  readonly schedulerName?: string
  /**
   * Unique among the instances of one name. Default: `NON_CLUSTERED`, or with a store that several nodes share the name
   * of the host and something unique.
   */
  readonly instanceId?: string
  /**
   * The longest sleep of the loop, and how far ahead it claims triggers; a lost signal or a clock that jumps
   * ahead delays a firing by this at most. After a clock was set back, a trigger waits until the clock has reached its
   * time. Milliseconds, 1,000 to 3,600,000, default 30,000.
   */
  readonly idleWaitMs?: number
  /**
   * Most triggers to acquire at once. 1 to 10,000, default: the size of the thread pool, and 300 more of those whose
   * jobs take no thread (`sendsAtOnce` of `defineRemoteJob`).
   */
  readonly maxBatchSize?: number
  /**
   * How much later than the first of a batch the others may be due. They still fire at their own time; a window saves
   * acquisitions. Milliseconds, 0 to `idleWaitMs`, default 0.
   */
  readonly batchTimeWindowMs?: number
  /** A trigger that is later than this goes through its misfire policy. Milliseconds, at least 1, default 60,000. */
  readonly misfireThresholdMs?: number
  /** How often a job may refire itself in one firing. 0 to 1,000,000, default 100. */
  readonly maxRefires?: number
  /**
   * How long an interrupted worker job may take to stop before its thread is ended. Milliseconds, at least 0, default
   * 5,000.
   */
  readonly interruptGraceMs?: number
  /** Largest job data, as bytes of JSON. At least 2, default 1,048,576. */
  readonly maxJobDataBytes?: number
  /**
   * How far the machine's clock may be from the time of a store that has its own before there is a warning; the
   * store's time counts in any case. Milliseconds, 1 to 86,400,000, default 1,000.
   */
  readonly maxClockSkewMs?: number
  /**
   * Interrupt running jobs when `shutdown` does not wait for them, and those that are left when its `timeoutMs` is
   * over. Default false.
   */
  readonly interruptJobsOnShutdown?: boolean
  /** Interrupt running jobs when `shutdown` waits for them. Default false. */
  readonly interruptJobsOnShutdownWithWait?: boolean
  /**
   * How long the end of `await using` waits for running jobs. Then it interrupts them, gives them `interruptGraceMs`
   * and a second, says in a `schedulerError` how many are left, and goes on as without waiting. Milliseconds, 0 to
   * 2,147,483,647, default 30,000.
   */
  readonly disposeTimeoutMs?: number
  /** Set up and ended with the scheduler. Default none. */
  readonly plugins?: readonly SchedulerPlugin[]
  /**
   * A pino logger or anything of its shape; false: no log. Default: warnings and errors go to stderr, one line each.
   */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
  /** Where names and jitter come from. Default: the system's randomness. */
  readonly ids?: IdGenerator
}

/** The options with every default filled in; frozen. */
export interface ResolvedSchedulerOptions
  extends Required<
    Omit<SchedulerBehaviour, 'jobFactory' | 'logger' | 'triggerFamilies' | 'calendars' | 'schedules'>
  > {
  /** Null when classes are made by their constructors. */
  readonly jobFactory: JobFactory | null
  /** How many more triggers than `maxBatchSize` a batch may have whose jobs take no thread. */
  readonly maxBesideCount: number
  /** Those of this library among them. */
  readonly triggerFamilies: TriggerFamilies
  readonly logger: Logger
  /** Whether the clock is another one than the machine's. */
  readonly hasOwnClock: boolean
  readonly jobStore: JobStore
  readonly threadPool: ThreadPool
  /** Adjusted by the offset that the store measures. */
  readonly clock: AdjustableClock
}

const what = 'createScheduler'

/** For numbers, whose bounds are checked where their defaults are filled in. */
const isGiven = checkThat('a number', (value) => value !== null)

const checkSet = checkThat(
  'a list of schedules, or an object with one',
  (value) => typeof value === 'object' && value !== null && 'schedules' in value,
)

/** A database has a column for it. */
const checkCalendarName = checkThat(
  'a name of at most 200 characters that is not blank',
  (value) => isName(value) && value.length <= 200,
)

/** Its items are looked at afterwards. */
const checkObjects = listOf(checkObject)

const scheduleSetOptions: Readonly<Record<keyof ScheduleSet, ArgumentCheck>> = {
  name: checkName,
  version: isGiven,
  schedules: checkObjects,
}

/** The kind of each option. */
const optionChecks: Readonly<Record<keyof SchedulerBehaviour | 'jobStore' | 'threadPool', ArgumentCheck>> = {
  jobStore: checkMethods(
    'a job store',
    ['initialize', 'acquireNextTriggers'],
    'Pass ramJobStore() or another store.',
  ),
  threadPool: checkThat('an object', isObject, 'Write { size: 10 }, or pass a thread pool.'),
  jobs: listOf(checkJobSource),
  jobFactory: checkFunction,
  calendars: (method, argument, value, code) => {
    checkData(method, argument, value, code)
    for (const [name, calendar] of Object.entries(value as object)) {
      checkCalendarName(method, `a name in ${argument}`, name, code)
      checkCalendar(method, `${argument}.${name}`, calendar, code)
    }
  },
  schedules: (method, argument, value, code) => {
    if (Array.isArray(value)) {
      checkDefinitions(method, argument, value, code)
      return
    }
    checkSet(method, argument, value, code)
    checkOptions(method, value, scheduleSetOptions, argument)
    checkDefinitions(method, argument, Reflect.get(Object(value), 'schedules'), code)
  },
  triggerFamilies: listOf(checkObject),
  schedulerName: checkName,
  instanceId: checkName,
  idleWaitMs: isGiven,
  maxBatchSize: isGiven,
  batchTimeWindowMs: isGiven,
  misfireThresholdMs: isGiven,
  maxRefires: isGiven,
  interruptGraceMs: isGiven,
  maxJobDataBytes: isGiven,
  maxClockSkewMs: isGiven,
  interruptJobsOnShutdown: checkBoolean,
  interruptJobsOnShutdownWithWait: checkBoolean,
  disposeTimeoutMs: isGiven,
  plugins: listOf(checkMethods('a plugin', ['initialize'])),
  logger: checkLoggerOrFalse,
  clock: checkClock,
  ids: checkIds,
}

/**
 * What is due in one moment is sent after one commit, instead of waiting for one search after the other. With more, the
 * first of a long queue would wait for all of it.
 */
const besideCount = 300

/** Refuses options that are no object, unknown ones, and parts of the wrong kind. @throws InvalidArgumentError */
export function checkSchedulerOptions(options: unknown): void {
  checkOptions(what, options, optionChecks)
}

/**
 * Fills in defaults and refuses values out of bounds.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION naming the option, its bounds and what was found
 */
export function resolveSchedulerOptions(
  options: SchedulerBehaviour,
  parts: { readonly jobStore: JobStore; readonly threadPool: ThreadPool },
): ResolvedSchedulerOptions {
  const { jobStore, threadPool } = parts
  const clock = options.clock ?? systemClock
  const idleWaitMs = integer('idleWaitMs', options.idleWaitMs ?? 30_000, 1000, 3_600_000)
  return Object.freeze({
    jobs: options.jobs ?? [],
    jobFactory: options.jobFactory ?? null,
    triggerFamilies:
      options.triggerFamilies === undefined
        ? TriggerFamilies.ofLibrary
        : new TriggerFamilies(options.triggerFamilies),
    jobStore,
    threadPool,
    schedulerName: options.schedulerName ?? 'QuartzScheduler',
    instanceId: options.instanceId ?? defaultInstanceId(options, jobStore),
    idleWaitMs,
    maxBesideCount: options.maxBatchSize === undefined ? besideCount : 0,
    maxBatchSize: integer('maxBatchSize', options.maxBatchSize ?? Math.max(1, threadPool.size), 1, 10_000),
    batchTimeWindowMs: windowOf(options, idleWaitMs),
    misfireThresholdMs: integer('misfireThresholdMs', options.misfireThresholdMs ?? 60_000, 1),
    maxRefires: integer('maxRefires', options.maxRefires ?? 100, 0, 1_000_000),
    interruptGraceMs: integer('interruptGraceMs', options.interruptGraceMs ?? 5000, 0),
    maxJobDataBytes: integer('maxJobDataBytes', options.maxJobDataBytes ?? defaultMaxJobDataBytes, 2),
    maxClockSkewMs: integer('maxClockSkewMs', options.maxClockSkewMs ?? 1000, 1, 86_400_000),
    interruptJobsOnShutdown: options.interruptJobsOnShutdown ?? false,
    interruptJobsOnShutdownWithWait: options.interruptJobsOnShutdownWithWait ?? false,
    disposeTimeoutMs: integer('disposeTimeoutMs', options.disposeTimeoutMs ?? 30_000, 0, timerDelayMaxMs),
    plugins: options.plugins ?? [],
    logger: resolveLogger(options.logger, () => clock.now()),
    clock: new AdjustableClock(clock),
    hasOwnClock: clock !== systemClock,
    ids: options.ids ?? systemIds,
  })
}

function integer(field: keyof SchedulerBehaviour, value: number, min: number, max?: number): number {
  return requireInteger(what, field, value, max === undefined ? { min } : { min, max })
}

function windowOf({ batchTimeWindowMs = 0 }: SchedulerBehaviour, idleWaitMs: number): number {
  if (Number.isInteger(batchTimeWindowMs) && batchTimeWindowMs > idleWaitMs) {
    throw new InvalidArgumentError(
      'batchTimeWindowMs',
      `${what}: 'batchTimeWindowMs' must be at most 'idleWaitMs', ${idleWaitMs}, got ${batchTimeWindowMs}.`,
      'ERR_INVALID_OPTION',
    )
  }
  return integer('batchTimeWindowMs', batchTimeWindowMs, 0)
}

/** Nodes without a given name need different ids. The host name is cut, because it may be as long as the column. */
function defaultInstanceId({ ids = systemIds }: SchedulerBehaviour, jobStore: JobStore): string {
  if (!jobStore.capabilities.clustered) return 'NON_CLUSTERED'
  return `${hostname().slice(0, 40)}-${ids.uniqueName().slice(0, 13)}`
}
