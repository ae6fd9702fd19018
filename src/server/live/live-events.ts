import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { JobExecutionContext } from '../../jobs/job-definition.ts'
import type { SchedulerEvents } from '../../listeners/events.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type KeyJson, keyToJson } from '../wire/fields.ts'

/** What a stream says of an event; fields that the event does not have are left out. */
export interface LiveEventJson {
  /**
   * Of SchedulerEventMap; or `changedElsewhere`: another node or process may have changed jobs, triggers or calendars.
   */
  readonly event: string
  readonly scheduler: string
  /** The instance id of the node where it happened, or that noticed it. */
  readonly node: string
  readonly atMs: number
  readonly jobKey?: KeyJson
  readonly triggerKey?: KeyJson
  readonly fireInstanceId?: string
  readonly group?: string | null
  readonly detail?: Readonly<Record<string, unknown>>
}

/** Takes what there is to say as a function: most of a flood of events is left out. */
type Tell = (event: string, told: () => Told) => void
type Told = Pick<LiveEventJson, 'jobKey' | 'triggerKey' | 'fireInstanceId' | 'group' | 'detail'>

const ofContext = ({ jobDetail, triggerKey, fireInstanceId }: JobExecutionContext): Told => ({
  jobKey: keyToJson(jobDetail.key),
  triggerKey: keyToJson(triggerKey),
  fireInstanceId,
})
const ofTrigger = ({ key, jobKey, nextFireTimeMs }: Trigger): Told => ({
  triggerKey: keyToJson(key),
  ...(jobKey !== null && { jobKey: keyToJson(jobKey) }),
  detail: { nextFireTimeMs },
})
const ofTriggerKey = ({ triggerKey }: { readonly triggerKey: TriggerKey }): Told => ({
  triggerKey: keyToJson(triggerKey),
})
const ofJobKey = ({ jobKey }: { readonly jobKey: JobKey }): Told => ({ jobKey: keyToJson(jobKey) })
const ofGroup = ({ group }: { readonly group: string | null }): Told => ({ group })

/**
 * Calls `tell` for the events of a scheduler that a page shows. `triggerFired` and `triggerComplete` are left out: they
 * come with `jobToBeExecuted` and `jobWasExecuted`.
 *
 * @returns what ends it
 */
export function observeScheduler({ events }: Scheduler, tell: Tell): () => void {
  const stops = [
    ...executionEvents(events, tell),
    ...definitionEvents(events, tell),
    ...(
      [
        'schedulingDataCleared',
        'schedulerStarted',
        'schedulerInStandbyMode',
        'schedulerShuttingdown',
      ] as const
    ).map((name) =>
      events.on(name, () => {
        tell(name, () => ({}))
      }),
    ),
    events.on('schedulerError', ({ message, error }) => {
      tell('schedulerError', () => ({ detail: { message, code: error.code } }))
    }),
    events.on('nodeFailed', ({ node }) => {
      tell('nodeFailed', () => ({ detail: { node } }))
    }),
    events.on('nodeRecovered', (detail) => {
      tell('nodeRecovered', () => ({ detail }))
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function executionEvents(events: SchedulerEvents, tell: Tell): (() => void)[] {
  return [
    events.on('jobToBeExecuted', ({ context }) => {
      tell('jobToBeExecuted', () => ({
        ...ofContext(context),
        detail: { scheduledFireTimeMs: context.scheduledFireTime.getTime(), attempt: context.attempt },
      }))
    }),
    events.on('jobWasExecuted', ({ context, error }) => {
      tell('jobWasExecuted', () => ({
        ...ofContext(context),
        detail: { runTimeMs: context.jobRunTimeMs, failed: error !== null },
      }))
    }),
    events.on('jobExecutionVetoed', ({ context }) => {
      tell('jobExecutionVetoed', () => ofContext(context))
    }),
    events.on('jobProgress', ({ context, value }) => {
      const isShort = typeof value === 'number' || typeof value === 'boolean'
      tell('jobProgress', () => ({ ...ofContext(context), ...(isShort && { detail: { value } }) }))
    }),
    events.on('jobInterrupted', ({ jobKey, fireInstanceId, reason }) => {
      tell('jobInterrupted', () => ({ jobKey: keyToJson(jobKey), fireInstanceId, detail: { reason } }))
    }),
    events.on('jobRetryScheduled', ({ context, attempt, retryTime }) => {
      tell('jobRetryScheduled', () => ({
        ...ofContext(context),
        detail: { attempt, retryTimeMs: retryTime.getTime() },
      }))
    }),
    events.on('triggerMisfired', ({ trigger }) => {
      tell('triggerMisfired', () => ofTrigger(trigger))
    }),
    events.on('triggerInError', ({ triggerKey, reason }) => {
      tell('triggerInError', () => ({ ...ofTriggerKey({ triggerKey }), detail: { reason } }))
    }),
    events.on('executionLost', ({ fireInstanceId, jobKey, triggerKey }) => {
      const ofJob = jobKey === null ? {} : ofJobKey({ jobKey })
      tell('executionLost', () => ({ ...ofTriggerKey({ triggerKey }), ...ofJob, fireInstanceId }))
    }),
  ]
}

function definitionEvents(events: SchedulerEvents, tell: Tell): (() => void)[] {
  return [
    events.on('jobScheduled', ({ trigger }) => {
      tell('jobScheduled', () => ofTrigger(trigger))
    }),
    events.on('triggerFinalized', ({ trigger }) => {
      tell('triggerFinalized', () => ofTrigger(trigger))
    }),
    events.on('jobAdded', ({ jobDetail }) => {
      tell('jobAdded', () => ofJobKey({ jobKey: jobDetail.key }))
    }),
    ...(['jobUnscheduled', 'triggerPaused', 'triggerResumed'] as const).map((name) =>
      events.on(name, (payload) => {
        tell(name, () => ofTriggerKey(payload))
      }),
    ),
    ...(['jobDeleted', 'jobPaused', 'jobResumed'] as const).map((name) =>
      events.on(name, (payload) => {
        tell(name, () => ofJobKey(payload))
      }),
    ),
    ...(['triggersPaused', 'triggersResumed', 'jobsPaused', 'jobsResumed'] as const).map((name) =>
      events.on(name, (payload) => {
        tell(name, () => ofGroup(payload))
      }),
    ),
  ]
}
