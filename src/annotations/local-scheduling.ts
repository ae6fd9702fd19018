import { InvalidArgumentError } from '../core/errors.ts'
import type { TaskFunction } from '../executors/task.ts'
import {
  ConcurrentTaskScheduler,
  type ConcurrentTaskSchedulerOptions,
  detachFromExecutor,
} from './concurrent-task-scheduler.ts'
import { scheduleOf } from './schedule.ts'
import { type ScheduledMethodOf, scheduledMethodsOf } from './scheduled-methods.ts'
import type { ScheduledTask } from './scheduled-task.ts'
import { ScheduledTaskRegistrar } from './scheduled-task-registrar.ts'
import {
  type ResolvedEveryOptions,
  resolveEveryOptions,
  type SchedulingOptions,
} from './scheduling-options.ts'
import type { TaskScheduler } from './task-scheduler.ts'
import { ThreadPoolTaskScheduler } from './thread-pool-task-scheduler.ts'

/** What `enableScheduling` returns for this process. */
export interface Scheduling extends AsyncDisposable {
  /** What runs the tasks. */
  readonly scheduler: TaskScheduler
  /** Every task of methods and configurers that may run; those that are done are not kept. */
  tasks(): readonly ScheduledTask[]
  /** Cancels all tasks; runs in progress go on. */
  cancel(): void
  /**
   * Cancels and interrupts all tasks, and closes the scheduler and waits for what it runs, unless the scheduler was
   * given: then runs may still be ending. It waits for 30 seconds at most, because a method that awaits it waits for
   * itself; then a warning names what still runs.
   */
  close(): Promise<void>
}

/** A scheduler, and how it ends where it was made for the tasks. */
interface ChosenScheduler {
  readonly scheduler: TaskScheduler
  readonly end?: () => unknown
}

/** The longest that `close` waits for runs, as the shutdown of a scheduler does by default. */
const awaitTerminationMs = 30_000

export async function enableLocalScheduling(options: SchedulingOptions): Promise<Scheduling> {
  const resolved = resolveEveryOptions(options)
  const registrar = new ScheduledTaskRegistrar()
  let chosen: ChosenScheduler | null = null
  const close = async (): Promise<void> => {
    registrar.destroy()
    await chosen?.end?.()
  }
  try {
    // All schedules are checked before any method runs.
    for (const method of scheduledMethodsOf(resolved.instances)) register(registrar, method, resolved)
    for (const configurer of options.configurers ?? []) await configurer.configureTasks(registrar)
    chosen = chooseScheduler(options, resolved, registrar.scheduler)
    registrar.setTaskScheduler(chosen.scheduler)
    registrar.schedule()
  } catch (error) {
    // A scheduler may refuse the second task after it took the first, and a configurer may have scheduled tasks itself.
    await close()
    throw error
  }
  return {
    scheduler: chosen.scheduler,
    tasks: () => registrar.getScheduledTasks(),
    cancel: () => {
      for (const task of registrar.getScheduledTasks()) task.cancel()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function register(
  registrar: ScheduledTaskRegistrar,
  method: ScheduledMethodOf,
  { resolve }: ResolvedEveryOptions,
): void {
  const schedule = scheduleOf(`@Scheduled ${method.methodName}`, method.options, resolve)
  const task: TaskFunction<unknown> = ({ signal }) => method.run({ signal, execution: null })
  Object.defineProperty(task, 'name', { value: method.name })
  switch (schedule.kind) {
    case 'disabled':
      return
    case 'cron':
      registrar.addCronTask(task, schedule.cron)
      return
    case 'fixedRate':
      registrar.addFixedRateTask(task, schedule.periodMs, { initialDelay: schedule.initialDelayMs })
      return
    case 'fixedDelay':
      registrar.addFixedDelayTask(task, schedule.delayMs, { initialDelay: schedule.initialDelayMs })
  }
}

/** The scheduler that was given, else the one that a configurer set, else a pool of its own. */
function chooseScheduler(
  { scheduler, errorHandler }: SchedulingOptions,
  { logger, clock }: ResolvedEveryOptions,
  configured: TaskScheduler | null,
): ChosenScheduler {
  const behaviour: ConcurrentTaskSchedulerOptions = {
    logger,
    clock,
    ...(errorHandler === undefined ? {} : { errorHandler }),
  }
  if (scheduler !== undefined && !('clock' in scheduler)) {
    const adapter = new ConcurrentTaskScheduler(scheduler, behaviour)
    return {
      scheduler: adapter,
      end: () => {
        detachFromExecutor(adapter)
      },
    }
  }
  const existing = scheduler ?? configured
  if (existing === null) {
    const pool = new ThreadPoolTaskScheduler({ ...behaviour, awaitTerminationMs })
    return { scheduler: pool, end: () => pool.close() }
  }
  if (errorHandler === undefined) return { scheduler: existing }
  throw new InvalidArgumentError(
    'errorHandler',
    `enableScheduling: a TaskScheduler has an error handler of its own. Give 'errorHandler' to the TaskScheduler.`,
    'ERR_INVALID_OPTION',
  )
}
