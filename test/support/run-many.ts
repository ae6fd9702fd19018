import type { JobKey } from '../../src/core/key.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'

/** Runs a job so many times, and returns when all of them have ended. */
export async function runMany(scheduler: Scheduler, key: JobKey, times: number): Promise<void> {
  await Promise.all(Array.from({ length: times }, () => scheduler.triggerJob(key)))
  await scheduler.idle()
}
