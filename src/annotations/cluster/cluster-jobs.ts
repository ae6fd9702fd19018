import { createHash } from 'node:crypto'
import { InvalidArgumentError } from '../../core/errors.ts'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { defineJob } from '../../jobs/define-job.ts'
import { JobBuilder } from '../../jobs/job-builder.ts'
import type { InlineJobDefinition, JobExecutionContext } from '../../jobs/job-definition.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { secondMs } from '../../time/civil.ts'
import type { Clock } from '../../time/clock.ts'
import { CronScheduleBuilder } from '../../triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { PlaceholderResolver } from '../placeholders.ts'
import { type Schedule, scheduleOf } from '../schedule.ts'
import type { ScheduledMethodOf } from '../scheduled-methods.ts'
import { type ClusterRunParts, fixedDelayData, runWithFixedDelay } from './fixed-delay.ts'
import { inQuartzDialect } from './quartz-cron.ts'

/** The group of the jobs of methods where there is no name of an application. */
export const methodsGroup = 'annotations'

type ActiveSchedule = Exclude<Schedule, { kind: 'disabled' }>

/** One schedule of a method as a trigger. */
export interface ClusterTrigger {
  /** Where it is stored, once it is: under a key of its own, or that of the schedule whose place it took. */
  key: TriggerKey
  readonly kind: ActiveSchedule['kind']
  /** What tells it from other schedules, see `digestOf`. */
  readonly digest: string
  /** The trigger as it is when it is stored now under `key`. */
  build(): Trigger
}

/** What the definition of a job runs. */
export interface MethodCode {
  run: (context: JobExecutionContext) => unknown
}

/** The job of a scheduled method. It has no triggers when all schedules are disabled. */
export interface ClusterJob {
  readonly definition: InlineJobDefinition
  readonly code: MethodCode
  readonly job: JobDetail
  readonly triggers: readonly ClusterTrigger[]
}

export interface ClusterJobsOptions extends ClusterRunParts {
  readonly group: string
  readonly resolve: PlaceholderResolver
}

/**
 * The jobs of methods: one for each name, with a trigger for each schedule.
 *
 * @throws InvalidArgumentError when two methods have one name, or a method one schedule twice
 */
export function clusterJobsOf(
  methods: readonly ScheduledMethodOf[],
  options: ClusterJobsOptions,
): ClusterJob[] {
  const byName = new Map<string, [ScheduledMethodOf, ...ScheduledMethodOf[]]>()
  for (const method of methods) {
    const sharers = byName.get(method.name)
    if (sharers === undefined) byName.set(method.name, [method])
    else sharers.push(method)
  }
  return [...byName.values()].map((sharers) => clusterJob(sharers, options))
}

function clusterJob(
  [method, ...others]: readonly [ScheduledMethodOf, ...ScheduledMethodOf[]],
  options: ClusterJobsOptions,
): ClusterJob {
  const { group, clock, resolve } = options
  const { name, methodName, target } = method
  if (others.some((other) => other.target !== target || other.methodName !== methodName)) {
    const both = others.every((other) => other.methodName === methodName)
      ? 'two objects have it'
      : 'two methods have it'
    throw new InvalidArgumentError(
      'name',
      `@Scheduled ${methodName}: the name '${name}' is not unique, ${both}. In a cluster each method of each object ` +
        `needs a name of its own: give 'name'.`,
    )
  }
  const code: MethodCode = { run: (context) => runWithFixedDelay(method, context, options) }
  const definition = defineJob(jobTypeOf(group, name), (context) => code.run(context), {
    description: `@Scheduled ${methodName}`,
    disallowConcurrentExecution: true,
  })
  const triggers = [method, ...others].flatMap((each) => {
    const schedule = scheduleOf(`@Scheduled ${methodName}`, each.options, resolve)
    return schedule.kind === 'disabled' ? [] : [clusterTrigger(new JobKey(name, group), schedule, clock)]
  })
  const digests = new Set(triggers.map(({ digest }) => digest))
  const job = JobBuilder.newJob(definition)
    .withIdentity(name, group)
    .usingJobData({ [schedulesKey]: [...digests].toSorted().join(' ') })
    .storeDurably()
    .build()
  if (digests.size === triggers.length) return { definition, code, job, triggers }
  throw new InvalidArgumentError(
    'options',
    `@Scheduled ${methodName}: one schedule is there twice. Remove one.`,
  )
}

/**
 * The job type of a method. Names of applications and of methods may both have dots, so in the type of an application's
 * method the name of the application ends with a character that it does not contain.
 */
export function jobTypeOf(group: string, name: string): string {
  if (group === methodsGroup) return `${group}.${name}`
  return `${methodsGroup}:${encodeURIComponent(group.slice(methodsGroup.length + 1))}:${name}`
}

/** The entry of the job's data that says whose schedules are to be stored: those of the last instance to write it. */
const schedulesKey = 'scheduleDigests'

/** The digests of the schedules that a stored job is to have. */
export function schedulesOfJob({ jobDataMap }: JobDetail): readonly string[] {
  const digests = jobDataMap[schedulesKey]
  return typeof digests === 'string' ? digests.split(' ') : []
}

const digestKey = 'scheduleDigest'

/** The digest of the schedule that a stored trigger was made of; its name has it where its data do not. */
export function digestOf({ key, jobDataMap }: Trigger): string {
  const digest = jobDataMap[digestKey]
  return typeof digest === 'string' ? digest : key.name.slice(key.name.lastIndexOf('@') + 1)
}

/**
 * The name of a trigger is made of its schedule. So an unchanged schedule is found in the store and left alone, also
 * when another instance stored it. A changed schedule takes the place of a former one under its key, and then the data
 * of the trigger say of which schedule it is.
 */
function clusterTrigger(jobKey: JobKey, schedule: ActiveSchedule, clock: Clock): ClusterTrigger {
  const digest = createHash('sha256')
    .update(JSON.stringify(identityOf(schedule)))
    .digest('hex')
    .slice(0, 12)
  const { kind } = schedule
  const build = (): Trigger => {
    const { key } = trigger
    // A second that has begun when the trigger is stored counts as past, as in Spring.
    const delayMs = kind === 'cron' ? secondMs : schedule.initialDelayMs
    const data = {
      ...(kind === 'fixedDelay' && fixedDelayData(schedule.delayMs)),
      ...(key.name !== ownName && { [digestKey]: digest }),
    }
    return TriggerBuilder.newTrigger({ clock })
      .withIdentity(key)
      .forJob(jobKey)
      .withDescription(describe(schedule))
      .usingJobData(data)
      .startAt(new Date(clock.now() + delayMs))
      .withSchedule(scheduleBuilderOf(schedule))
      .build()
  }
  const ownName = `${jobKey.name}@${digest}`
  const trigger: ClusterTrigger = { key: new TriggerKey(ownName, jobKey.group), kind, digest, build }
  return trigger
}

/** The parts of a schedule that identify it. The initial delay is none: it counts once, when the trigger is stored. */
function identityOf(schedule: ActiveSchedule): readonly (string | number)[] {
  switch (schedule.kind) {
    case 'cron': {
      const { expression, timeZone, dst } = schedule.cron
      return ['cron', expression, timeZone, dst, schedule.misfireInstruction]
    }
    case 'fixedRate':
      return ['fixedRate', schedule.periodMs]
    case 'fixedDelay':
      return ['fixedDelay', schedule.delayMs]
  }
}

function describe(schedule: ActiveSchedule): string {
  switch (schedule.kind) {
    case 'cron':
      return `cron ${schedule.cron.expression} ${schedule.cron.timeZone}`
    case 'fixedRate':
      return `every ${schedule.periodMs} ms`
    case 'fixedDelay':
      return `${schedule.delayMs} ms after each run`
  }
}

function scheduleBuilderOf(schedule: ActiveSchedule): ScheduleBuilder<Trigger> {
  switch (schedule.kind) {
    case 'cron':
      return CronScheduleBuilder.cronSchedule(inQuartzDialect(schedule.cron)).withMisfireInstruction(
        schedule.misfireInstruction,
      )
    case 'fixedRate':
      // The next time of the series, so that no misfire shifts it.
      return SimpleScheduleBuilder.simpleSchedule()
        .withIntervalInMilliseconds(schedule.periodMs)
        .repeatForever()
        .withMisfireInstruction('rescheduleNextWithExistingCount')
    case 'fixedDelay':
      return SimpleScheduleBuilder.simpleSchedule()
        .withIntervalInMilliseconds(schedule.delayMs)
        .repeatForever()
        .withMisfireInstruction('rescheduleNowWithExistingRepeatCount')
  }
}
