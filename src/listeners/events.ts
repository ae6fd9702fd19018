import type { JobExecutionError, SchedulerError } from '../core/errors.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import { TypedEventEmitter, type TypedEvents } from '../core/typed-events.ts'
import type { JobExecutionContext } from '../jobs/job-definition.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { CompletedExecutionInstruction } from '../jobstore/job-store.ts'
import type { EndedSharding } from '../jobstore/job-store-shards.ts'
import type { LockHolder } from '../jobstore/lock-wait.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { JobListener } from './job-listener.ts'
import type { SchedulerListener } from './scheduler-listener.ts'
import type { TriggerListener } from './trigger-listener.ts'

/** Why a job was asked to stop; `recovered`: another node has taken its firing over. */
export type InterruptReason = 'interrupt' | 'timeout' | 'shutdown' | 'recovered'

/** Every event with its payload. Observers are called synchronously after the fact and cannot change anything. */
export interface SchedulerEventMap {
  /** A trigger was stored. */
  jobScheduled: { readonly trigger: Trigger }
  /** A trigger was taken away. The triggers of a job that is deleted go with it: `jobDeleted` stands for them. */
  jobUnscheduled: { readonly triggerKey: TriggerKey }
  /**
   * A trigger will never fire again, because its schedule is over. One that its job has ended, by
   * `unscheduleFiringTrigger` or `unscheduleAllTriggers`, has no such event, as in Quartz: the `instruction` of
   * `triggerComplete` says it. A new calendar that leaves the trigger a time revives it.
   */
  triggerFinalized: { readonly trigger: Trigger }
  /** A trigger was paused. */
  triggerPaused: { readonly triggerKey: TriggerKey }
  /** The triggers of a group were paused; `group` is null for all groups. */
  triggersPaused: { readonly group: string | null }
  /** A trigger was resumed. */
  triggerResumed: { readonly triggerKey: TriggerKey }
  /** The triggers of a group were resumed; `group` is null for all groups. */
  triggersResumed: { readonly group: string | null }
  /** A job was stored. */
  jobAdded: { readonly jobDetail: JobDetail }
  /** A job was deleted, by request or because its last trigger went. */
  jobDeleted: { readonly jobKey: JobKey }
  /** All triggers of a job were paused. */
  jobPaused: { readonly jobKey: JobKey }
  /** The jobs of a group were paused. */
  jobsPaused: { readonly group: string }
  /** All triggers of a job were resumed. */
  jobResumed: { readonly jobKey: JobKey }
  /** The jobs of a group were resumed. */
  jobsResumed: { readonly group: string }
  /** Everything was deleted. */
  schedulingDataCleared: Record<string, never>
  /** The scheduler is about to start. */
  schedulerStarting: Record<string, never>
  /** The scheduler fires triggers from now on. */
  schedulerStarted: Record<string, never>
  /** The scheduler stands by and fires nothing. */
  schedulerInStandbyMode: Record<string, never>
  /** The scheduler began to shut down. */
  schedulerShuttingdown: Record<string, never>
  /**
   * A shutdown ended although something was left: executions that still run in this process, executions that have ended
   * and are not written, a store that did not answer in time and may keep claims. The store's recovery settles it.
   */
  shutdownIncomplete: {
    readonly executions: number
    readonly completionsUnwritten: number
    readonly isStoreCutOff: boolean
  }
  /** The scheduler has shut down. */
  schedulerShutdown: Record<string, never>
  /** Something failed that no caller was waiting for. */
  schedulerError: { readonly message: string; readonly error: SchedulerError }
  /** A trigger fired; its job is about to run, unless it is vetoed. */
  triggerFired: { readonly trigger: Trigger; readonly context: JobExecutionContext }
  /** A trigger could not fire in time; its misfire policy is about to be applied. */
  triggerMisfired: { readonly trigger: Trigger }
  /** An execution ended and this is what happens to its trigger. */
  triggerComplete: {
    readonly trigger: Trigger
    readonly context: JobExecutionContext
    readonly instruction: CompletedExecutionInstruction
  }
  /**
   * A trigger went to the ERROR state and fires no more until it is reset: its job could not be made, its calendar is
   * missing, or a row of the database cannot be read. Sent once; a `schedulerError` has the error itself.
   */
  triggerInError: { readonly triggerKey: TriggerKey; readonly reason: string }
  /** Another node stopped checking in; this one is about to recover its work. */
  nodeFailed: { readonly node: string }
  /**
   * This node recovered the work of a failed node, or of an earlier run of its own, or claims of its own whose answer
   * from the database was lost. Not sent when there was nothing to recover.
   */
  nodeRecovered: {
    readonly node: string
    readonly releasedClaims: number
    readonly recoveredExecutions: number
    readonly lostExecutions: number
  }
  /**
   * An execution died with its node and is not run again. `reason` says why: its job does not request recovery, is
   * gone or was replaced, or the run that was to recover it could not be stored. Then a `schedulerError` has the error
   * itself.
   */
  executionLost: {
    readonly fireInstanceId: string
    readonly node: string
    readonly jobKey: JobKey | null
    readonly triggerKey: TriggerKey
    readonly scheduledFireTime: Date
    readonly reason: string
  }
  /**
   * The last item of a firing of a sharded job has ended. Sent once, by the node that has written that down, if it does
   * not die before it sends this.
   */
  allShardsDone: { readonly firing: EndedSharding }
  /** This node could not show that it is alive, and tries again: others may take it for failed. */
  checkInFailed: { readonly error: unknown }
  /** This node shows again that it is alive, after it could not. */
  checkInRestored: { readonly failedAttempts: number }
  /**
   * Another node took this one for failed and recovered its work, or its row in the store was deleted: executions in
   * flight were asked to stop, and nothing of them is written. This node takes part anew; a scheduler on SQLite writes
   * nothing more, and its process has to be started again.
   */
  recoveredByPeer: Record<string, never>
  /** The machine's clock is further from the store's time than `maxClockSkewMs` allows; the store's time counts. */
  clockSkewed: { readonly offsetMs: number; readonly maxClockSkewMs: number }
  /**
   * An operation of this node waits for a lock for longer than `lockWaitWarningMs` of the job store. The loop itself
   * waits for no lock of a row; a lock of a whole table holds it up.
   */
  lockWaitExceeded: {
    readonly statement: string
    readonly processId: number
    readonly waitedMs: number
    readonly holders: readonly LockHolder[]
  }
  /**
   * A worker thread was terminated and does not exit, because it is in native code. Its executions go on and keep their
   * slots until the thread exits.
   */
  workerThreadStuck: {
    readonly threadId: number
    readonly waitedMs: number
    readonly executions: readonly { readonly jobKey: JobKey; readonly fireInstanceId: string }[]
  }
  /** A job is about to run. */
  jobToBeExecuted: { readonly context: JobExecutionContext }
  /** A trigger listener kept a job from running. */
  jobExecutionVetoed: { readonly context: JobExecutionContext }
  /** A job ran; `error` is null when it ended well. */
  jobWasExecuted: { readonly context: JobExecutionContext; readonly error: JobExecutionError | null }
  /** A running job reported progress. */
  jobProgress: { readonly context: JobExecutionContext; readonly value: unknown }
  /** A running job was asked to stop: `reason` is `interrupt`, `timeout`, `shutdown` or `recovered`. */
  jobInterrupted: {
    readonly jobKey: JobKey
    readonly fireInstanceId: string
    readonly reason: InterruptReason
  }
  /** A result was reported that no firing awaits: a second one, or one of a firing that has ended. */
  resultLate: {
    readonly reference: string
    readonly error: unknown
    readonly fireInstanceId: string | null
  }
  /** A failed job will run again: attempt number `attempt` at `retryTime`. */
  jobRetryScheduled: {
    readonly context: JobExecutionContext
    readonly attempt: number
    readonly retryTime: Date
    readonly triggerKey: TriggerKey
  }
  /**
   * A job with a retry policy failed in the last attempt that it allows, gave the firing up, or was deleted or replaced
   * by one of another type before it failed: this firing is not tried again.
   */
  retriesExhausted: {
    readonly jobKey: JobKey
    readonly triggerKey: TriggerKey
    readonly attempts: number
    readonly error: JobExecutionError
  }
  /**
   * Triggers are due and no node has the code of their job type: they wait until a node registers it. Sent once for
   * each type in the life of a scheduler.
   */
  jobTypeUnknown: {
    readonly jobType: string
    readonly waiting: number
    readonly triggerKeys: readonly TriggerKey[]
    readonly jobKeys: readonly JobKey[]
  }
}

export type SchedulerEventName = keyof SchedulerEventMap

/** The events of one scheduler, for observers. */
export type SchedulerEvents = TypedEvents<SchedulerEventMap>

/** The kind of listener that has a callback of this name; null for an event that only observers see. */
type ListenerKind<Name> = Name extends keyof SchedulerListener
  ? 'scheduler'
  : Name extends keyof JobListener
    ? 'job'
    : Name extends keyof TriggerListener
      ? 'trigger'
      : null

/** The one list of events, and of the callbacks of listeners, which have the names of events. */
const listenerKinds: { readonly [Name in SchedulerEventName]: ListenerKind<Name> } = {
  jobScheduled: 'scheduler',
  jobUnscheduled: 'scheduler',
  triggerFinalized: 'scheduler',
  triggerPaused: 'scheduler',
  triggersPaused: 'scheduler',
  triggerResumed: 'scheduler',
  triggersResumed: 'scheduler',
  jobAdded: 'scheduler',
  jobDeleted: 'scheduler',
  jobPaused: 'scheduler',
  jobsPaused: 'scheduler',
  jobResumed: 'scheduler',
  jobsResumed: 'scheduler',
  schedulingDataCleared: 'scheduler',
  schedulerStarting: 'scheduler',
  schedulerStarted: 'scheduler',
  schedulerInStandbyMode: 'scheduler',
  schedulerShuttingdown: 'scheduler',
  shutdownIncomplete: null,
  schedulerShutdown: 'scheduler',
  schedulerError: 'scheduler',
  triggerFired: 'trigger',
  triggerMisfired: 'trigger',
  triggerComplete: 'trigger',
  triggerInError: null,
  nodeFailed: null,
  nodeRecovered: null,
  executionLost: null,
  allShardsDone: 'job',
  checkInFailed: null,
  checkInRestored: null,
  recoveredByPeer: null,
  clockSkewed: null,
  lockWaitExceeded: null,
  workerThreadStuck: null,
  jobToBeExecuted: 'job',
  jobExecutionVetoed: 'job',
  jobWasExecuted: 'job',
  jobProgress: null,
  jobInterrupted: null,
  resultLate: null,
  jobRetryScheduled: null,
  retriesExhausted: null,
  jobTypeUnknown: null,
}

/** The one callback that is no event. */
const veto: Exclude<keyof (SchedulerListener & JobListener & TriggerListener), SchedulerEventName | 'name'> =
  'vetoJobExecution'

/** The callbacks that a kind of listener may have. */
export function callbacksOf(kind: 'scheduler' | 'job' | 'trigger'): readonly string[] {
  const named = Object.entries(listenerKinds).filter(([, listenerKind]) => listenerKind === kind)
  return [...named.map(([name]) => name), ...(kind === 'trigger' ? [veto] : [])]
}

/** The emitting side. */
export class SchedulerEventEmitter extends TypedEventEmitter<SchedulerEventMap> {
  constructor(logger: Logger) {
    super(logger, listenerKinds)
  }
}
