import type { IdGenerator } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { JobStoreNotes } from '../jobs/job-store-notes.ts'
import type { Clock } from '../time/clock.ts'
import type { Scheduler } from './scheduler.ts'
import type { ProbeContext, SchedulerProbe } from './scheduler-probe.ts'

/** What a plugin gets of its scheduler besides the scheduler itself. */
export interface PluginContext {
  /** The scheduler's clock, which goes by the time of the store. */
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  /** Shared by the nodes of the cluster; with a store that keeps none, of this process alone. */
  readonly notes: JobStoreNotes
}

/** An extension with the life cycle of a scheduler: it may add listeners, schedule jobs, and clean up at the end. */
export interface SchedulerPlugin {
  readonly name: string
  /** Called once, before the scheduler is made: what the plugin wants to measure or trace. Default nothing. */
  probe?(context: ProbeContext): SchedulerProbe
  /**
   * When the scheduler is made, before it can be started. A failure fails `createScheduler`. A plugin that another
   * scheduler has, and that can have no second one, throws a SchedulerError ERR_PLUGIN_IN_USE: its `shutdown` is not
   * called then.
   */
  initialize(scheduler: Scheduler, context: PluginContext): void | Promise<void>
  /** At the first start, which waits for it: it must not itself await a start, standby or shutdown. */
  start?(): void | Promise<void>
  /**
   * While the scheduler shuts down, which waits for it for 10 seconds at most: it must not itself await the shutdown.
   * Where `createScheduler` fails, it is called only if `initialize` was, also one that failed, but for
   * ERR_PLUGIN_IN_USE. The same plugin may then be initialized by another `createScheduler`.
   */
  shutdown?(): void | Promise<void>
}
