import { checkThat } from '../core/arguments.ts'
import { InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import type { ScheduledExecutorService } from './scheduled-executor-service.ts'
import type { ScheduledFuture } from './scheduled-future.ts'
import type { Task } from './task.ts'

/** Runs all tasks; resolves when each is done, however it ended. */
export async function invokeAll<T>(
  executor: ScheduledExecutorService,
  tasks: Iterable<Task<T>>,
): Promise<ScheduledFuture<T>[]> {
  const futures = submitAll(executor, tasks)
  await Promise.allSettled(futures)
  return futures
}

/** Runs all tasks; resolves with the first success and cancels the others. */
export async function invokeAny<T>(executor: ScheduledExecutorService, tasks: Iterable<Task<T>>): Promise<T> {
  const futures = submitAll(executor, tasks)
  if (futures.length === 0) throw new InvalidArgumentError('tasks', `'tasks' must hold at least one task.`)
  try {
    return await Promise.any(futures)
  } catch (error) {
    throw new SchedulerError(
      'ERR_NO_TASK_SUCCEEDED',
      `None of ${futures.length} tasks succeeded; the errors of all are in the cause.`,
      { cause: error },
    )
  } finally {
    for (const future of futures) future.cancel({ mayInterrupt: true })
  }
}

const checkTasks = checkThat(
  'an array of tasks, or another iterable',
  (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
)

/** Submits all tasks or none: when one is refused, those before it are cancelled. */
function submitAll<T>(executor: ScheduledExecutorService, tasks: Iterable<Task<T>>): ScheduledFuture<T>[] {
  checkTasks('invoke', 'tasks', tasks)
  const futures: ScheduledFuture<T>[] = []
  try {
    for (const task of tasks) futures.push(executor.submit(task))
  } catch (error) {
    for (const future of futures) future.cancel()
    throw error
  }
  return futures
}
