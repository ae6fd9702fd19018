import { checkFunction, checkMethods, checkOptions } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { resolveLogger } from '../core/line-logger.ts'
import { checkLoggerOrFalse, type Logger } from '../core/logger.ts'
import { describeValue } from '../core/options.ts'
import { carriedOut, isThenable } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import { TypedEventEmitter, type TypedEvents } from '../core/typed-events.ts'
import type { ScheduledExecutorService } from '../executors/scheduled-executor-service.ts'
import type { ScheduledFuture } from '../executors/scheduled-future.ts'
import type { TaskFunction } from '../executors/task.ts'
import { RejectedExecutionError } from '../executors/termination.ts'
import { type Clock, checkClock, type EpochMs, systemClock } from '../time/clock.ts'
import { type DurationLike, requireDurationMs } from '../time/duration-options.ts'
import { type InstantLike, instantMsOf } from '../time/instant.ts'
import { type ErrorHandler, logAndRethrow, logAndSuppress } from './error-handler.ts'
import { InstantTasks } from './instant-tasks.ts'
import type { TaskScheduler, TaskSchedulerEventMap } from './task-scheduler.ts'
import { TaskRejectedError } from './task-scheduler.ts'
import type { TaskTrigger } from './task-trigger.ts'
import { TriggeredTask } from './triggered-task.ts'

export interface ConcurrentTaskSchedulerOptions {
  /**
   * Called with what a task throws. Default: a failure is logged; a repeating task goes on, the future of one that runs
   * once fails.
   */
  readonly errorHandler?: ErrorHandler
  /**
   * A pino logger or anything of its shape; false: no log. Default: warnings and errors go to stderr, one line
   * each.
   */
  readonly logger?: Logger | false
  /** The clock of instants and triggers; the executor must have the same. Default: the system's. */
  readonly clock?: Clock
}

const checkExecutor = checkMethods(
  'an executor',
  ['schedule', 'scheduleAtFixedRate', 'scheduleWithFixedDelay', 'submit'],
  "Make one with new ScheduledExecutor() of 'quartz-ts/executors'.",
)

/** A full pool makes task after task wait; the log has one line of that in this time. */
const waitingWarnedEveryMs = 60_000

/** Most tasks that a warning names. */
const namedMax = 20

/** What ends the subscription of a scheduler to its executor. */
const subscriptions = new WeakMap<ConcurrentTaskScheduler, () => void>()

/** Has the executor of a scheduler, which may live on, keep nothing of it any more. */
export function detachFromExecutor(scheduler: ConcurrentTaskScheduler): void {
  subscriptions.get(scheduler)?.()
}

/** A `TaskScheduler` on an existing executor, which it does not shut down. */
export class ConcurrentTaskScheduler implements TaskScheduler {
  static readonly #gone = new FinalizationRegistry<() => void>((unsubscribe) => {
    unsubscribe()
  })
  readonly clock: Clock
  readonly #executor: ScheduledExecutorService
  readonly #logger: Logger
  #warnedOfWaitingMs = Number.NEGATIVE_INFINITY
  readonly #errorHandler: ErrorHandler | null
  readonly #events: TypedEventEmitter<TaskSchedulerEventMap>
  readonly #triggered = new Set<TriggeredTask>()
  readonly #instants: InstantTasks
  readonly #names = new WeakMap<ScheduledFuture<unknown>, string>()
  /** The names of the runs in progress. */
  readonly #running = new Set<{ readonly name: string }>()

  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(executor: ScheduledExecutorService, options: ConcurrentTaskSchedulerOptions = {}) {
    checkExecutor('ConcurrentTaskScheduler', 'executor', executor)
    checkOptions('ConcurrentTaskScheduler', options, {
      errorHandler: checkFunction,
      logger: checkLoggerOrFalse,
      clock: checkClock,
    })
    this.clock = options.clock ?? systemClock
    this.#executor = executor
    this.#instants = new InstantTasks(this.clock)
    this.#logger = resolveLogger(options.logger, () => this.clock.now())
    this.#errorHandler = options.errorHandler ?? null
    this.#events = new TypedEventEmitter<TaskSchedulerEventMap>(this.#logger, {
      taskFailed: true,
      taskWaiting: true,
    })
    const unsubscribe = ConcurrentTaskScheduler.#subscribe(executor, new WeakRef(this))
    ConcurrentTaskScheduler.#gone.register(this, unsubscribe)
    subscriptions.set(this, unsubscribe)
  }

  /**
   * The executor may live on. It keeps no scheduler that has no tasks there and that its owner has dropped. Static, so
   * that the listener holds no `this`.
   */
  static #subscribe(executor: ScheduledExecutorService, weak: WeakRef<ConcurrentTaskScheduler>): () => void {
    return executor.events.on('taskWaiting', ({ future, lateMs }) => {
      const scheduler = weak.deref()
      if (scheduler !== undefined) scheduler.#hearsOfWaiting(future, lateMs)
    })
  }

  get events(): TypedEvents<TaskSchedulerEventMap> {
    return this.#events
  }

  schedule(task: TaskFunction<unknown>, trigger: TaskTrigger): ScheduledFuture<never> | null
  schedule<T>(task: TaskFunction<T>, startTime: InstantLike): ScheduledFuture<T>
  schedule(task: TaskFunction<unknown>, when: TaskTrigger | InstantLike): ScheduledFuture<unknown> | null {
    if (!isTrigger(when)) {
      const run = this.#guarded(task, { runsAgain: false })
      return this.#instants.start(run, this.#startMs(when), (each, delayMs) =>
        this.#submit(task, () => this.#executor.schedule(each, delayMs)),
      )
    }
    const triggered = TriggeredTask.start({
      task: this.#guarded(task, { runsAgain: true }),
      trigger: when,
      clock: this.clock,
      submit: (wake, delayMs, kind) => {
        const future = this.#submit(task, () => this.#executor.schedule(wake, delayMs))
        // One that only reads the clock may wait for a slot without a task being late.
        if (kind === 'wake') this.#names.delete(future)
        return future
      },
      onLate: (lateMs) => {
        this.#waits(nameOf(task), lateMs)
      },
      onUnheardError: (error) => {
        logThrown(this.#logger, error, 'A scheduled task failed, and ends', { task: nameOf(task) })
      },
      onTriggerError: (error) => {
        logThrown(this.#logger, error, 'The trigger of a scheduled task failed', { task: nameOf(task) })
        this.#events.emit('taskFailed', { task: nameOf(task), error, runsAgain: true })
      },
      onEnd: (ended) => {
        this.#triggered.delete(ended)
      },
    })
    if (triggered !== null) this.#triggered.add(triggered)
    return triggered
  }

  scheduleAtFixedRate(task: TaskFunction<unknown>, period: DurationLike): ScheduledFuture<never>
  scheduleAtFixedRate(
    task: TaskFunction<unknown>,
    startTime: InstantLike,
    period: DurationLike,
  ): ScheduledFuture<never>
  scheduleAtFixedRate(
    task: TaskFunction<unknown>,
    startOrPeriod: InstantLike,
    period?: DurationLike,
  ): ScheduledFuture<never> {
    const { delayMs, periodMs } = this.#periodic('period', startOrPeriod, period)
    const run = this.#guarded(task, { runsAgain: true })
    return this.#submit(task, () => this.#executor.scheduleAtFixedRate(run, delayMs, periodMs))
  }

  scheduleWithFixedDelay(task: TaskFunction<unknown>, delay: DurationLike): ScheduledFuture<never>
  scheduleWithFixedDelay(
    task: TaskFunction<unknown>,
    startTime: InstantLike,
    delay: DurationLike,
  ): ScheduledFuture<never>
  scheduleWithFixedDelay(
    task: TaskFunction<unknown>,
    startOrDelay: InstantLike,
    delay?: DurationLike,
  ): ScheduledFuture<never> {
    const { delayMs, periodMs } = this.#periodic('delay', startOrDelay, delay)
    const run = this.#guarded(task, { runsAgain: true })
    return this.#submit(task, () => this.#executor.scheduleWithFixedDelay(run, delayMs, periodMs))
  }

  /**
   * Cancels the tasks of triggers; runs in progress go on. The executor itself knows only their next run. Tasks that
   * run once stay with the executor, which counts their delays from here.
   */
  protected cancelTriggered(): void {
    this.#instants.stop()
    for (const task of this.#triggered) task.cancel()
  }

  /** Names the tasks that run in the log. */
  protected warnOfRunning(): void {
    const names = new Set(Array.from(this.#running, ({ name }) => name))
    if (names.size === 0) return
    this.#logger.warn(
      { tasks: [...names].slice(0, namedMax).join(', ') },
      'The scheduler of tasks was closed and waits no longer for those that still run. A task that awaits the end ' +
        'waits for itself.',
    )
  }

  #hearsOfWaiting(future: ScheduledFuture<unknown>, lateMs: number): void {
    const task = this.#names.get(future)
    // The executor may have other users.
    if (task !== undefined) this.#waits(task, lateMs)
  }

  #waits(task: string, lateMs: number): void {
    this.#warnOfWaiting(task, lateMs)
    this.#events.emit('taskWaiting', { task, lateMs })
  }

  #warnOfWaiting(task: string, lateMs: number): void {
    const nowMs = this.clock.elapsedMs()
    if (nowMs < this.#warnedOfWaitingMs + waitingWarnedEveryMs) return
    this.#warnedOfWaitingMs = nowMs
    this.#logger.warn(
      { task, lateMs },
      'A scheduled task waits, because as many tasks run as may; each sends the event taskWaiting',
    )
  }

  #periodic(
    field: string,
    startOrPeriod: InstantLike,
    period: DurationLike | undefined,
  ): { readonly delayMs: number; readonly periodMs: number } {
    const given = period ?? startOrPeriod
    const periodMs = requireDurationMs('TaskScheduler', field, given, { minMs: 1 })
    const delayMs = period === undefined ? 0 : Math.max(0, this.#startMs(startOrPeriod) - this.clock.now())
    return { delayMs, periodMs }
  }

  #startMs(instant: InstantLike): EpochMs {
    const startMs = instantMsOf(instant)
    if (!Number.isNaN(startMs)) return startMs
    throw new InvalidArgumentError(
      'startTime',
      `TaskScheduler: 'startTime' must be a Date, epoch milliseconds, a DateTime, or ISO 8601 text with its offset, ` +
        `got ${describeValue(instant)}.`,
    )
  }

  #submit<T>(task: TaskFunction<unknown>, submit: () => ScheduledFuture<T>): ScheduledFuture<T> {
    try {
      const future = submit()
      this.#names.set(future, nameOf(task))
      return future
    } catch (cause) {
      if (!(cause instanceof RejectedExecutionError)) throw cause
      throw new TaskRejectedError(
        `Task '${nameOf(task)}' was not taken, because the executor is shut down. Schedule it before.`,
        { cause },
      )
    }
  }

  /** The task with its error handler. */
  #guarded<T>(task: TaskFunction<T>, { runsAgain }: { readonly runsAgain: boolean }): TaskFunction<T> {
    if (typeof (task as unknown) !== 'function') {
      throw new InvalidArgumentError('task', `A task must be a function, got ${describeValue(task)}.`)
    }
    const byDefault = runsAgain ? logAndSuppress : logAndRethrow
    const handle = this.#errorHandler ?? byDefault(this.#logger)
    return (context) => {
      const running = { name: nameOf(task) }
      this.#running.add(running)
      const failed = (error: unknown): T | PromiseLike<T> => {
        // A run that was asked to end may end by throwing: that is no failure to report.
        if (context.signal.aborted) throw error
        this.#events.emit('taskFailed', { task: nameOf(task), error, runsAgain })
        const handled = handle(error, nameOf(task))
        const nothing = undefined as T
        return isThenable(handled) ? handled.then(() => nothing) : nothing
      }
      return carriedOut(() => task(context), { failed, ended: () => this.#running.delete(running) })
    }
  }
}

function nameOf(task: TaskFunction<unknown>): string {
  return task.name === '' ? 'task' : task.name
}

function isTrigger(value: TaskTrigger | InstantLike): value is TaskTrigger {
  return (
    typeof value === 'object' &&
    (value as object | null) !== null &&
    typeof Reflect.get(value, 'nextExecution') === 'function'
  )
}
