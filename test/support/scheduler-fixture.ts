import { seededIds } from '../../src/core/ids.ts'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import type { SchedulerListener } from '../../src/listeners/scheduler-listener.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { FaultyJobStore } from './faulty-job-store.ts'

export interface SchedulerFixture {
  readonly clock: ManualClock
  readonly scheduler: Scheduler
  readonly store: FaultyJobStore
  /** Names of the jobs that ran, in order. */
  readonly ran: string[]
  /** Callbacks of a scheduler listener, in order, with the key or group that each was about. */
  readonly told: string[]
  /** Messages of `schedulerError` events. */
  readonly errors: string[]
  readonly job: (name: string, change?: (builder: JobBuilder<object>) => JobBuilder<object>) => JobDetail
  /** A trigger that fires once, `inMs` from now. */
  readonly once: (name: string, inMs?: number) => Trigger
  /** A trigger that fires every second for ever, first `inMs` from now. */
  readonly everySecond: (name: string, inMs?: number) => Trigger
}

const note = 'note'

/** A scheduler on a manual clock and a RAM store whose calls can be made to fail. */
export async function schedulerFixture(options: SchedulerOptions = {}): Promise<SchedulerFixture> {
  const clock = new ManualClock()
  const store = new FaultyJobStore(new RAMJobStore())
  const ran: string[] = []
  const told: string[] = []
  const errors: string[] = []
  const definition = defineJob(note, (context) => {
    ran.push(context.jobKey.name)
  })
  const scheduler = await createScheduler({
    clock,
    ids: seededIds(1),
    logger: false,
    jobStore: store,
    ...options,
    jobs: [definition, ...(options.jobs ?? [])],
  })
  scheduler.listenerManager.addSchedulerListener(recorder(told))
  scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
  return {
    clock,
    scheduler,
    store,
    ran,
    told,
    errors,
    job: (name, change = (builder) => builder) => change(JobBuilder.newJob(note).withIdentity(name)).build(),
    once: (name, inMs = 0) =>
      TriggerBuilder.newTrigger({ clock })
        .withIdentity(name)
        .startAt(new Date(clock.now() + inMs))
        .build(),
    everySecond: (name, inMs = 1000) =>
      TriggerBuilder.newTrigger({ clock })
        .withIdentity(name)
        .startAt(new Date(clock.now() + inMs))
        .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
        .build(),
  }
}

const callbacks = [
  'jobScheduled',
  'jobUnscheduled',
  'triggerFinalized',
  'triggerPaused',
  'triggersPaused',
  'triggerResumed',
  'triggersResumed',
  'jobAdded',
  'jobDeleted',
  'jobPaused',
  'jobsPaused',
  'jobResumed',
  'jobsResumed',
  'schedulerInStandbyMode',
  'schedulerStarting',
  'schedulerStarted',
  'schedulerShuttingdown',
  'schedulerShutdown',
  'schedulingDataCleared',
] as const satisfies readonly (keyof SchedulerListener)[]

function recorder(told: string[]): SchedulerListener {
  const record = (callback: string) => {
    return (about?: unknown): void => {
      told.push(about === undefined ? callback : `${callback} ${nameOf(about)}`)
    }
  }
  return Object.fromEntries(callbacks.map((callback) => [callback, record(callback)]))
}

function nameOf(about: unknown): string {
  if (about instanceof JobKey || about instanceof TriggerKey) return about.name
  if (typeof about === 'object' && about !== null && 'key' in about) return nameOf(about.key)
  return String(about)
}
