import { GroupMatcher } from '../../src/core/matcher.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/trigger-builder.ts'
import type { SimClock } from './sim-clock.ts'
import type { SimRandom } from './sim-random.ts'

/** What is wanted of a trigger whose every planned instant must be fired for. */
export interface Wish {
  readonly startMs: number
  readonly intervalMs: number
  readonly count: number
}

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
    for (const kind of Object.keys(jobKinds) as JobKind[]) {
      for (const name of jobNamesOf(kind)) {
        const builder = JobBuilder.newJob(kind).withIdentity(name).storeDurably()
        if (jobKinds[kind].requestsRecovery) builder.requestRecovery()
        await scheduler.addJob(builder.build(), { replace: true })
      }
    }
  }

  async #schedule(scheduler: Scheduler): Promise<void> {
    const random = this.#random
    const kind = random.pick(Object.keys(jobKinds) as JobKind[])
    const isSure = random.chance(0.7)
    const count = random.pick([1, 1, random.integer(2, 15)])
    const intervalMs = random.pick([500, 1000, random.integer(300, 4000)])
    const startMs = this.#clock.now() + random.integer(-2000, 10_000)
    const name = `t${this.#names++}`
    this.lastPlannedMs = Math.max(this.lastPlannedMs, startMs + count * intervalMs)
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name, 'sim')
      .forJob(random.pick(jobNamesOf(kind)))
      .withPriority(random.integer(1, 9))
      .startAt(new Date(startMs))
      .withSchedule(
        SimpleScheduleBuilder.simpleSchedule()
          .withIntervalInMilliseconds(intervalMs)
          .withRepeatCount(count - 1)
          .withMisfireInstruction(isSure ? 'ignore' : 'smart'),
      )
      .build()
    if (isSure) this.wishes.set(`sim.${name}`, { startMs, intervalMs, count })
    await scheduler.scheduleJob(trigger)
  }

  /** One of them, at random. */
  async run(scheduler: Scheduler): Promise<unknown> {
    const random = this.#random
    const any = GroupMatcher.anyGroup()
    switch (
      random.weighted({
        schedule: 12,
        pause: 1,
        resume: 2,
        pauseJob: 1,
        resumeJob: 2,
        standby: 1,
        trigger: 2,
      })
    ) {
      case 'schedule':
        return this.#schedule(scheduler)
      case 'pause':
        return scheduler.pauseTriggers(any)
      case 'resume':
        return scheduler.resumeTriggers(any)
      case 'pauseJob':
        return scheduler.pauseJobs(any)
      case 'resumeJob':
        return scheduler.resumeJobs(any)
      case 'standby':
        await scheduler.standby()
        await this.#clock.sleep(random.integer(0, 3000))
        return scheduler.start()
      case 'trigger': {
        const keys = await scheduler.getJobKeys(any)
        return keys.length === 0 ? null : scheduler.triggerJob(random.pick(keys))
      }
    }
  }
}
