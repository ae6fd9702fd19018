import { checkFunction } from '../core/arguments.ts'
import { refuseUnknownKeys } from '../core/options.ts'
import type { ScheduledFuture } from '../executors/scheduled-future.ts'
import type { TaskFunction } from '../executors/task.ts'
import { type DurationLike, requireDurationMs } from '../time/duration-options.ts'
import type { CronExpression } from '../triggers/cron/cron-expression.ts'
import { CronTaskTrigger, type CronTaskTriggerOptions } from './cron-task-trigger.ts'
import { ScheduledTask, type ScheduledTaskKind } from './scheduled-task.ts'
import { checkTaskScheduler, TaskRejectedError, type TaskScheduler } from './task-scheduler.ts'
import { checkTaskTrigger, type TaskTrigger } from './task-trigger.ts'

export interface PeriodicTaskOptions {
  /** Before the first run. Default 0. */
  readonly initialDelay?: DurationLike
}

/** Adds tasks, or the scheduler, when scheduling is enabled. */
export interface SchedulingConfigurer {
  configureTasks(registrar: ScheduledTaskRegistrar): unknown
}

const owner = 'ScheduledTaskRegistrar'

/**
 * Collects tasks of every kind. They are scheduled when `schedule` is called and a scheduler is set; tasks that are
 * added later are scheduled at once.
 */
export class ScheduledTaskRegistrar {
  readonly #tasks = new Set<ScheduledTask>()
  #scheduler: TaskScheduler | null = null
  #isStarted = false
  #isDestroyed = false
  /** How many tasks there may be before those that are done are forgotten. */
  #roomFor = 64

  /** The scheduler of the tasks; null until it is set. */
  get scheduler(): TaskScheduler | null {
    return this.#scheduler
  }

  /** Sets the scheduler of tasks that are scheduled from now on. */
  setTaskScheduler(scheduler: TaskScheduler): void {
    checkTaskScheduler(`${owner}.setTaskScheduler`, 'scheduler', scheduler)
    this.#scheduler = scheduler
    if (this.#isStarted) this.schedule()
  }

  /** A task that a trigger runs. */
  addTriggerTask(task: TaskFunction<unknown>, trigger: TaskTrigger): ScheduledTask {
    checkTaskTrigger(`${owner}.addTriggerTask`, 'trigger', trigger)
    return this.#add('trigger', task, (scheduler) => scheduler.schedule(task, trigger))
  }

  /** A task on a cron expression of Spring's dialect, or on a parsed one. @throws CronExpressionError */
  addCronTask(
    task: TaskFunction<unknown>,
    expression: string,
    options?: CronTaskTriggerOptions,
  ): ScheduledTask
  addCronTask(task: TaskFunction<unknown>, expression: CronExpression): ScheduledTask
  addCronTask(
    task: TaskFunction<unknown>,
    expression: string | CronExpression,
    options?: CronTaskTriggerOptions,
  ): ScheduledTask {
    // The trigger refuses options beside a parsed expression.
    const trigger = new CronTaskTrigger(expression as string, options)
    return this.#add('cron', task, (scheduler) => scheduler.schedule(task, trigger))
  }

  /** A task that runs every `period`. @throws InvalidArgumentError ERR_INVALID_OPTION */
  addFixedRateTask(
    task: TaskFunction<unknown>,
    period: DurationLike,
    options: PeriodicTaskOptions = {},
  ): ScheduledTask {
    const periodMs = requireDurationMs(owner, 'period', period, { minMs: 1 })
    const delayMs = initialDelayMs(options)
    return this.#add('fixedRate', task, (scheduler) =>
      scheduler.scheduleAtFixedRate(task, scheduler.clock.now() + delayMs, periodMs),
    )
  }

  /** A task that runs again `delay` after each run has ended. @throws InvalidArgumentError ERR_INVALID_OPTION */
  addFixedDelayTask(
    task: TaskFunction<unknown>,
    delay: DurationLike,
    options: PeriodicTaskOptions = {},
  ): ScheduledTask {
    const fixedDelayMs = requireDurationMs(owner, 'delay', delay, { minMs: 1 })
    const delayMs = initialDelayMs(options)
    return this.#add('fixedDelay', task, (scheduler) =>
      scheduler.scheduleWithFixedDelay(task, scheduler.clock.now() + delayMs, fixedDelayMs),
    )
  }

  /**
   * A task that runs once, at the instant that is `initialDelay` ahead when it is scheduled; it moves with that instant
   * when the clock is set. @throws InvalidArgumentError ERR_INVALID_OPTION
   */
  addOneTimeTask(task: TaskFunction<unknown>, initialDelay: DurationLike): ScheduledTask {
    const delayMs = initialDelayMs({ initialDelay })
    return this.#add('oneTime', task, (scheduler) =>
      scheduler.schedule(task, scheduler.clock.now() + delayMs),
    )
  }

  /**
   * Every task that may run, in the order in which they were added; of one kind, if that is given. Tasks that are done
   * are not kept.
   */
  getScheduledTasks(kind?: ScheduledTaskKind): readonly ScheduledTask[] {
    this.#forgetDone()
    return [...this.#tasks].filter((task) => kind === undefined || task.kind === kind)
  }

  /**
   * Schedules the tasks, now or as soon as a scheduler is set.
   *
   * @throws TaskRejectedError ERR_TASK_REJECTED
   */
  schedule(): void {
    this.#isStarted = true
    if (this.#scheduler === null) return
    for (const task of this.#tasks) task.start(this.#scheduler)
  }

  /** Cancels every task, and takes no more. The scheduler goes on. */
  destroy(): void {
    this.#isDestroyed = true
    for (const task of this.#tasks) task.cancel({ mayInterrupt: true })
  }

  #add(
    kind: ScheduledTaskKind,
    task: TaskFunction<unknown>,
    start: (scheduler: TaskScheduler) => ScheduledFuture<unknown> | null,
  ): ScheduledTask {
    checkFunction(owner, 'task', task)
    if (this.#isDestroyed) {
      throw new TaskRejectedError('The registrar was destroyed and takes no more tasks.')
    }
    const added = new ScheduledTask(kind, task, start)
    if (this.#isStarted && this.#scheduler !== null) added.start(this.#scheduler)
    this.#tasks.add(added)
    if (this.#tasks.size > this.#roomFor) {
      this.#forgetDone()
      this.#roomFor = Math.max(64, 2 * this.#tasks.size)
    }
    return added
  }

  #forgetDone(): void {
    for (const task of this.#tasks) if (task.isDone) this.#tasks.delete(task)
  }
}

function initialDelayMs(options: PeriodicTaskOptions): number {
  refuseUnknownKeys(owner, options, ['initialDelay'])
  const { initialDelay = 0 } = options
  return requireDurationMs(owner, 'initialDelay', initialDelay, { minMs: 0 })
}
