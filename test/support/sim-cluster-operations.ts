import { GroupMatcher } from '../../src/core/matcher.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import type { SimClock } from './sim-clock.ts'
import type { SimRandom } from './sim-random.ts'

/** A trigger every planned instant of which must be fired for, and no other one: those instants. */
export type Wish = readonly number[]

export const jobKinds = {
  plain: { disallowConcurrentExecution: false, requestsRecovery: false },
  strict: { disallowConcurrentExecution: true, requestsRecovery: false },
  recoverable: { disallowConcurrentExecution: false, requestsRecovery: true },
  strictRecoverable: { disallowConcurrentExecution: true, requestsRecovery: true },
  retrying: { disallowConcurrentExecution: true, requestsRecovery: false },
  counter: { disallowConcurrentExecution: true, requestsRecovery: false },
} as const
/** Counts its runs in its own data. */
export const counterJobName = 'counter-1'
export type JobKind = keyof typeof jobKinds

/** Several of a kind, so that nobody puts right what went wrong for one of them. */
function jobNamesOf(kind: JobKind): readonly string[] {
  return kind === 'counter' ? [counterJobName] : [1, 2, 3, 4].map((number) => `${kind}-${number}`)
}

/** Jobs that users delete and store again. */
export function isDoomed(jobName: string): boolean {
  return jobName.endsWith('-4')
}

const any = GroupMatcher.anyGroup()
const kinds = Object.keys(jobKinds) as JobKind[]
const allJobNames = kinds.flatMap(jobNamesOf)
/** Triggers that users delete and give other plans. */
const looseGroup = 'loose'
/** A calendar that stays as it is, and one that changes all the time. */
export const calendarNames = { steady: 'steady', changing: 'changing' }
/** The first seconds of each minute that the steady calendar leaves out. */
const secondsLeftOut = 10

function secondsOf(firstCount: number): CronCalendar {
  return new CronCalendar({ expression: `0-${firstCount - 1} * * * * ?`, timeZone: 'UTC' })
}

interface Plan {
  readonly startMs: number
  readonly intervalMs: number
  readonly count: number
}

/** What users do to a cluster. */
export class ClusterOperations {
  readonly wishes = new Map<string, Wish>()
  /** No trigger plans anything after this. */
  lastPlannedMs = 0
  readonly #clock: SimClock
  readonly #random: SimRandom
  #names = 0

  constructor(clock: SimClock, random: SimRandom) {
    this.#clock = clock
    this.#random = random
  }

  async populate(scheduler: Scheduler): Promise<void> {
    await scheduler.addCalendar(calendarNames.steady, secondsOf(secondsLeftOut), { replace: true })
    await scheduler.addCalendar(calendarNames.changing, secondsOf(1), { replace: true })
    for (const name of allJobNames) await scheduler.addJob(durableJob(name), { replace: true })
  }

  /** One of them, at random. */
  async run(scheduler: Scheduler): Promise<unknown> {
    const random = this.#random
    const loose = GroupMatcher.groupEquals(looseGroup)
    const action = random.weighted({
      schedule: 12,
      scheduleLoose: 3,
      scheduleShortLived: 3,
      unschedule: 1,
      reschedule: 2,
      deleteJob: 1.5,
      changeCalendar: 1,
      pauseSome: 2,
      resumeSome: 3,
      pauseAll: 0.5,
      resumeAll: 1.5,
      standby: 1,
      trigger: 2,
    })
    switch (action) {
      case 'schedule':
        return this.schedule(scheduler)
      case 'scheduleLoose':
        return scheduler.scheduleJob(this.#looseTrigger().forJob(random.pick(allJobNames)).build())
      case 'scheduleShortLived':
        return this.#scheduleShortLived(scheduler)
      case 'unschedule':
        return this.#withOne(await scheduler.getTriggerKeys(loose), (key) => scheduler.unscheduleJob(key))
      case 'reschedule':
        return this.#withOne(await scheduler.getTriggerKeys(loose), (key) =>
          // In the place of the other one, or under a name of its own.
          scheduler.rescheduleJob(key, this.#looseTrigger(random.chance(0.5) ? key.name : undefined).build()),
        )
      case 'deleteJob': {
        const job = durableJob(random.pick(allJobNames.filter(isDoomed)))
        await scheduler.deleteJob(job.key)
        return scheduler.addJob(job, { replace: true })
      }
      case 'changeCalendar':
        return scheduler.addCalendar(calendarNames.changing, secondsOf(random.integer(1, 20)), {
          replace: true,
          updateTriggers: random.chance(0.6),
        })
      case 'pauseSome':
        return this.#pauseSome(scheduler)
      case 'resumeSome':
        return this.#resumeSome(scheduler)
      case 'pauseAll':
        return scheduler.pauseAll()
      case 'resumeAll':
        return scheduler.resumeAll()
      case 'standby':
        await scheduler.standby()
        await this.#clock.sleep(random.integer(0, 3000))
        return scheduler.start()
      case 'trigger':
        return this.#withOne(await scheduler.getJobKeys(any), (key) => scheduler.triggerJob(key))
    }
  }

  #pauseSome(scheduler: Scheduler): Promise<unknown> {
    return this.#eitherOf(
      () => scheduler.pauseTriggers(any),
      () => scheduler.pauseJobs(any),
      async () => this.#withOne(await scheduler.getTriggerKeys(any), (key) => scheduler.pauseTrigger(key)),
      async () => this.#withOne(await scheduler.getJobKeys(any), (key) => scheduler.pauseJob(key)),
    )
  }

  #resumeSome(scheduler: Scheduler): Promise<unknown> {
    return this.#eitherOf(
      () => scheduler.resumeTriggers(any),
      () => scheduler.resumeJobs(any),
      async () => this.#withOne(await scheduler.getTriggerKeys(any), (key) => scheduler.resumeTrigger(key)),
      async () => this.#withOne(await scheduler.getJobKeys(any), (key) => scheduler.resumeJob(key)),
    )
  }

  /** Stores a trigger of one of the durable jobs. */
  async schedule(scheduler: Scheduler): Promise<void> {
    const random = this.#random
    const jobName = random.pick(jobNamesOf(random.pick(kinds)))
    const isSure = random.chance(0.7)
    const plan = this.#plan()
    const hasCalendar = random.chance(0.2)
    const name = `t${this.#names++}`
    const trigger = this.#trigger(plan, isSure)
      .withIdentity(name, 'sim')
      .forJob(jobName)
      .modifiedByCalendar(hasCalendar ? calendarNames.steady : null)
    if (isSure && !isDoomed(jobName)) this.wishes.set(`sim.${name}`, instantsOf(plan, hasCalendar))
    await scheduler.scheduleJob(trigger.build())
  }

  /** A trigger that fires once, in so many milliseconds. */
  oneShot(name: string, jobName: string, inMs: number): Trigger {
    return TriggerBuilder.newTrigger()
      .withIdentity(name, 'sim')
      .forJob(jobName)
      .startAt(new Date(this.#clock.now() + inMs))
      .build()
  }

  /** A trigger that nothing is expected of but what is true of all. */
  #looseTrigger(name = `l${this.#names++}`): TriggerBuilder {
    const calendar = this.#random.chance(0.3) ? calendarNames.changing : null
    return this.#trigger(this.#plan(), this.#random.chance(0.5))
      .withIdentity(name, looseGroup)
      .modifiedByCalendar(calendar)
  }

  /** A job that goes with its last trigger. */
  async #scheduleShortLived(scheduler: Scheduler): Promise<void> {
    const kind = this.#random.pick(['plain', 'recoverable', 'recoverable', 'strictRecoverable'] as const)
    const name = `f${this.#names++}`
    const plan = this.#plan()
    const job = jobBuilder(kind, `${kind}-${name}`).build()
    this.wishes.set(`sim.${name}`, instantsOf(plan, false))
    await scheduler.scheduleJob(job, this.#trigger(plan, true).withIdentity(name, 'sim').build())
  }

  #plan(): Plan {
    const random = this.#random
    const plan = {
      count: random.pick([1, 1, random.integer(2, 15)]),
      intervalMs: random.pick([500, 1000, random.integer(300, 4000)]),
      startMs: this.#clock.now() + random.integer(-2000, 10_000),
    }
    this.lastPlannedMs = Math.max(this.lastPlannedMs, plan.startMs + plan.count * plan.intervalMs)
    return plan
  }

  #trigger({ startMs, intervalMs, count }: Plan, isSure: boolean): TriggerBuilder {
    return TriggerBuilder.newTrigger()
      .withPriority(this.#random.integer(1, 9))
      .startAt(new Date(startMs))
      .withSchedule(
        SimpleScheduleBuilder.simpleSchedule()
          .withIntervalInMilliseconds(intervalMs)
          .withRepeatCount(count - 1)
          .withMisfireInstruction(isSure ? 'ignore' : 'smart'),
      )
  }

  #eitherOf(...actions: readonly (() => Promise<unknown>)[]): Promise<unknown> {
    return this.#random.pick(actions)()
  }

  async #withOne<Key>(keys: readonly Key[], action: (key: Key) => Promise<unknown>): Promise<unknown> {
    return keys.length === 0 ? null : action(this.#random.pick(keys))
  }
}

function jobBuilder(kind: JobKind, name: string): JobBuilder {
  const builder = JobBuilder.newJob(kind).withIdentity(name)
  return jobKinds[kind].requestsRecovery ? builder.requestRecovery() : builder
}

function durableJob(name: string): JobDetail {
  const kind = kinds.find((each) => name.startsWith(`${each}-`)) ?? 'plain'
  return jobBuilder(kind, name).storeDurably().build()
}

function instantsOf({ startMs, intervalMs, count }: Plan, hasCalendar: boolean): Wish {
  const isLeftOut = (timeMs: number): boolean => Math.floor(timeMs / 1000) % 60 < secondsLeftOut
  return Array.from({ length: count }, (_, index) => startMs + index * intervalMs).filter(
    (timeMs) => !hasCalendar || !isLeftOut(timeMs),
  )
}
