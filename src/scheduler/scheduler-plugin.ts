import type { Scheduler } from './scheduler.ts'
import type { ProbeContext, SchedulerProbe } from './scheduler-probe.ts'

/** An extension with the life cycle of a scheduler: it may add listeners, schedule jobs, and clean up at the end. */
export interface SchedulerPlugin {
  readonly name: string
  /** Called once, before the scheduler is made: what the plugin wants to measure or trace. Default nothing. */
  probe?(context: ProbeContext): SchedulerProbe
  /** When the scheduler is made, before it can be started. A failure fails `createScheduler`. */
  initialize(scheduler: Scheduler): void | Promise<void>
  /** At the first start, which waits for it: it must not itself await a start, standby or shutdown. */
  start?(): void | Promise<void>
  /** While the scheduler shuts down. */
  shutdown?(): void | Promise<void>
}
