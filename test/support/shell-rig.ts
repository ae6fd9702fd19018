import {
  createScheduler,
  defineJob,
  type InlineJobDefinition,
  inProcessThreadPool,
  JobBuilder,
  type JobDetail,
  type JobExecutionContext,
  type JobSource,
  jobKey,
  ramJobStore,
  type Scheduler,
  type SchedulerError,
  type SchedulerOptions,
  SimpleScheduleBuilder,
  type Trigger,
  TriggerBuilder,
  triggerKey,
} from '../../src/index.ts'
import type { JobOptions } from '../../src/jobs/define-job.ts'
import { ManualClock, seededIds } from '../../src/testing.ts'
import { FaultyJobStore } from './faulty-job-store.ts'

/** A started scheduler on a clock that stands still, with everything a test wants to look at afterwards. */
export interface ShellRig {
  readonly clock: ManualClock
  readonly store: FaultyJobStore
  readonly scheduler: Scheduler
  /** Every `schedulerError`, in order. */
  readonly errors: SchedulerError[]
  readonly startMs: number
}

/** Makes and starts a scheduler of two slots; what the options say goes before. */
export async function shellRig(
  jobs: readonly JobSource[],
  options: Omit<SchedulerOptions, 'clock'> & { readonly clock?: ManualClock } = {},
): Promise<ShellRig> {
  const clock = options.clock ?? new ManualClock()
  const store = new FaultyJobStore(ramJobStore())
  const scheduler = await createScheduler({
    logger: false,
    jobs,
    clock,
    jobStore: store,
    ids: seededIds(7),
    threadPool: inProcessThreadPool({ size: 2 }),
    ...options,
  })
  const errors: SchedulerError[] = []
  scheduler.events.on('schedulerError', ({ error }) => errors.push(error))
  await scheduler.start()
  return { clock, store, scheduler, errors, startMs: clock.now() }
}

type Execute = (context: JobExecutionContext) => unknown

/** An inline job type named `job`. */
export function jobOf(execute: Execute, options: JobOptions = {}): InlineJobDefinition {
  return defineJob('job', execute, options)
}

export const theJob = jobKey('job')
export const theTrigger = triggerKey('trigger')

/** The job `DEFAULT.job` of a definition, or of a job type by its name. */
export function detailOf(
  definition: JobSource | string,
  build: (builder: JobBuilder<object>) => void = () => {},
): JobDetail {
  const builder = (
    typeof definition === 'string' ? JobBuilder.newJob(definition) : JobBuilder.newJob(definition)
  ).withIdentity(theJob)
  build(builder)
  return builder.build()
}

/** The trigger `DEFAULT.trigger`: fires at once, and then every second, `count` times in all. */
export function firing(startMs: number, count = 1): Trigger {
  return TriggerBuilder.newTrigger()
    .withIdentity(theTrigger)
    .startAt(new Date(startMs))
    .withSchedule(
      count === 1
        ? SimpleScheduleBuilder.simpleSchedule()
        : SimpleScheduleBuilder.repeatSecondlyForTotalCount(count),
    )
    .build()
}
