import {
  type ArgumentCheck,
  checkBoolean,
  checkFunction,
  checkNumber,
  checkOptions,
} from '../core/arguments.ts'
import { checkLoggerOrFalse } from '../core/logger.ts'
import { requireInteger } from '../core/options.ts'
import { ScheduledExecutor } from '../executors/scheduled-executor.ts'
import { checkClock, timerDelayMaxMs } from '../time/clock.ts'
import { ConcurrentTaskScheduler, type ConcurrentTaskSchedulerOptions } from './concurrent-task-scheduler.ts'

export interface ThreadPoolTaskSchedulerOptions extends ConcurrentTaskSchedulerOptions {
  /** Most tasks that run at one time, 1 to 100,000. Default 10. */
  readonly poolSize?: number
  /**
   * Whether `close` lets running tasks end and tasks that are to run once still run. Default false: running tasks are
   * interrupted and waiting ones cancelled.
   */
  readonly waitForTasksToCompleteOnShutdown?: boolean
  /**
   * The longest that `close` waits for running tasks; then a warning names them. A task that awaits `close` waits for
   * itself, so give a limit where one may. Milliseconds, 0 to 2,147,483,647, default: no limit; 30,000 in the pool that
   * `enableScheduling` makes.
   */
  readonly awaitTerminationMs?: number
  /** Whether waiting tasks keep the process alive. Default true. */
  readonly ref?: boolean
}

const what = 'ThreadPoolTaskScheduler'

const optionChecks: Readonly<Record<keyof ThreadPoolTaskSchedulerOptions, ArgumentCheck>> = {
  poolSize: checkNumber,
  waitForTasksToCompleteOnShutdown: checkBoolean,
  awaitTerminationMs: checkNumber,
  ref: checkBoolean,
  errorHandler: checkFunction,
  logger: checkLoggerOrFalse,
  clock: checkClock,
}

/** A `TaskScheduler` with an executor of its own. Its threads are slots on the event loop. */
export class ThreadPoolTaskScheduler extends ConcurrentTaskScheduler implements AsyncDisposable {
  readonly #executor: ScheduledExecutor
  readonly #waitForTasks: boolean
  readonly #awaitTerminationMs: number | undefined

  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(options: ThreadPoolTaskSchedulerOptions = {}) {
    checkOptions(what, options, optionChecks)
    const {
      poolSize = 10,
      waitForTasksToCompleteOnShutdown = false,
      awaitTerminationMs,
      ref,
      ...rest
    } = options
    const { clock } = rest
    // The default error handler logs what tasks throw; one of the user's may throw itself.
    const logger = rest.errorHandler === undefined ? false : rest.logger
    const executor = new ScheduledExecutor({
      corePoolSize: requireInteger(what, 'poolSize', poolSize, { min: 1, max: 100_000 }),
      removeOnCancel: true,
      ...(ref === undefined ? {} : { ref }),
      ...(clock === undefined ? {} : { clock }),
      ...(logger === undefined ? {} : { logger }),
    })
    super(executor, rest)
    this.#executor = executor
    this.#waitForTasks = waitForTasksToCompleteOnShutdown
    this.#awaitTerminationMs =
      awaitTerminationMs === undefined
        ? undefined
        : requireInteger(what, 'awaitTerminationMs', awaitTerminationMs, { min: 0, max: timerDelayMaxMs })
  }

  /** How many tasks run now. */
  get activeCount(): number {
    return this.#executor.activeCount
  }

  /**
   * Takes no more tasks and ends running and waiting ones as the options say; false when a task still runs. A task of
   * this scheduler must not await it without `awaitTerminationMs`: it would wait for itself.
   */
  async close(): Promise<boolean> {
    this.cancelTriggered()
    if (this.#waitForTasks) this.#executor.shutdown()
    else this.#executor.shutdownNow()
    const hasEnded = await this.#executor.awaitTermination(this.#awaitTerminationMs)
    if (!hasEnded) this.warnOfRunning()
    return hasEnded
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
