import type { Scheduler } from './scheduler.ts'

/** Something that lives as long as a scheduler: it may add listeners, schedule jobs, and tidy up at the end. */
export interface SchedulerPlugin {
  readonly name: string
  /** When the scheduler is made, before it can be started. A failure fails `createScheduler`. */
  initialize(scheduler: Scheduler): void | Promise<void>
  /** At the first start, which waits for it: it must not itself await a start, standby or shutdown. */
  start?(): void | Promise<void>
  /** While the scheduler shuts down. */
  shutdown?(): void | Promise<void>
}
