import { SchedulerError } from '../../src/core/errors.ts'
import { JobKey, type TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { InjectedFailure } from './intercept-job-store.ts'
import type { SimClock } from './sim-clock.ts'
import { counterJobType, simJobTypes } from './sim-jobs.ts'
import type { SimRandom } from './sim-random.ts'
import { calendarNames, randomCalendar, randomTrigger, triggerGroups } from './sim-triggers.ts'

const jobGroups = ['j1', 'j2'] as const
/** Never deleted, so that what it counted can be compared with how often it ran. */
export const counterJobKey: JobKey = new JobKey('counter', 'counters')

/** Codes with which a scheduler may refuse an operation that came at the wrong moment. */
const expectedCodes: readonly string[] = [
  'ERR_OBJECT_ALREADY_EXISTS',
  'ERR_JOB_NOT_FOUND',
  'ERR_TRIGGER_NEVER_FIRES',
  'ERR_SCHEDULER_SHUTDOWN',
  'ERR_CALENDAR_NOT_FOUND',
  'ERR_JOB_KEY_MISMATCH',
]

const weights = {
  scheduleJob: 6,
  addTrigger: 10,
  unschedule: 4,
  deleteJob: 1,
  reschedule: 5,
  triggerJob: 6,
  pauseOne: 4,
  resumeOne: 5,
  pauseMany: 2,
  resumeMany: 4,
  standby: 1.5,
  calendar: 2,
  reset: 2,
  interrupt: 1,
  clear: 0.1,
}
export type OperationName = keyof typeof weights

/** Does to a scheduler what users and operators do, at random. */
export class SimOperations {
  readonly #scheduler: Scheduler
  readonly #clock: SimClock
  readonly #random: SimRandom
  readonly #report: (problem: string) => void
  #names = 0

  constructor(scheduler: Scheduler, clock: SimClock, random: SimRandom, report: (problem: string) => void) {
    this.#scheduler = scheduler
    this.#clock = clock
    this.#random = random
    this.#report = report
  }

  /** The jobs and triggers to begin with; works also when the store fails now and then. */
  async populate(): Promise<void> {
    const random = this.#random
    for (const name of calendarNames) {
      await this.persist(() => this.#scheduler.addCalendar(name, randomCalendar(random), { replace: true }))
    }
    const counter = JobBuilder.newJob(counterJobType).withIdentity(counterJobKey).storeDurably().build()
    await this.persist(() => this.#scheduler.addJob(counter, { replace: true }))
    await this.attempt(() => this.#scheduler.scheduleJob(this.#trigger(counterJobKey)))
    for (let count = random.integer(1, 5); count > 0; count--) await this.run('scheduleJob')
    for (let count = random.integer(0, 6); count > 0; count--) await this.run('addTrigger')
  }

  async runOne(): Promise<void> {
    await this.run(this.#random.weighted<OperationName>(weights))
  }

  async run(name: OperationName): Promise<void> {
    await this.attempt(() => this.#operation(name))
  }

  /** Carries out an operation whose failure, if it is one that may happen, does not matter. */
  async attempt(operation: () => Promise<unknown>): Promise<boolean> {
    try {
      await operation()
      return true
    } catch (error) {
      const isExpected =
        error instanceof InjectedFailure || (SchedulerError.is(error) && expectedCodes.includes(error.code))
      if (!isExpected)
        this.#report(`an operation failed: ${error instanceof Error ? error.stack : String(error)}`)
      return false
    }
  }

  /** Carries out an operation again and again until it works. */
  async persist(operation: () => Promise<unknown>): Promise<void> {
    while (!(await this.attempt(operation))) await this.#clock.sleep(10)
  }

  async #operation(name: OperationName): Promise<unknown> {
    const scheduler = this.#scheduler
    const random = this.#random
    switch (name) {
      case 'scheduleJob': {
        const job = this.#job()
        const triggers = Array.from({ length: random.integer(1, 3) }, () => this.#trigger(job.key))
        return scheduler.scheduleJob(job, triggers, { replace: random.chance(0.2) })
      }
      case 'addTrigger':
        return scheduler.scheduleJob(this.#trigger(await this.#anyJobKey()))
      case 'unschedule':
        return scheduler.unscheduleJob(await this.#anyTriggerKey())
      case 'deleteJob': {
        const jobKey = await this.#anyJobKey()
        return jobKey.equals(counterJobKey) ? false : scheduler.deleteJob(jobKey)
      }
      case 'reschedule':
        return this.#reschedule()
      case 'triggerJob':
        return scheduler.triggerJob(await this.#anyJobKey())
      case 'calendar': {
        const options = { replace: true, updateTriggers: random.chance(0.6) }
        return scheduler.addCalendar(random.pick(calendarNames), randomCalendar(random), options)
      }
      case 'reset':
        return scheduler.resetTriggerFromErrorState(await this.#anyTriggerKey())
      case 'interrupt':
        return scheduler.interrupt(await this.#anyJobKey())
      case 'standby':
        await scheduler.standby()
        await this.#clock.sleep(random.integer(0, 5000))
        return scheduler.start()
      case 'clear':
        // The counter would be gone: only its triggers may go.
        return scheduler.unscheduleJobs(await scheduler.getTriggerKeys(GroupMatcher.anyGroup()))
      default:
        return this.#pauseOrResume(name)
    }
  }

  async #pauseOrResume(name: 'pauseOne' | 'resumeOne' | 'pauseMany' | 'resumeMany'): Promise<unknown> {
    const scheduler = this.#scheduler
    const random = this.#random
    const what = random.integer(1, 3)
    const triggerMatcher = random.pick([
      GroupMatcher.groupEquals(random.pick(triggerGroups)),
      GroupMatcher.groupStartsWith('g'),
    ])
    const jobMatcher = GroupMatcher.groupEquals(random.pick(jobGroups))
    switch (name) {
      case 'pauseOne':
        if (what === 1) return scheduler.pauseJob(await this.#anyJobKey())
        return scheduler.pauseTrigger(await this.#anyTriggerKey())
      case 'resumeOne':
        if (what === 1) return scheduler.resumeJob(await this.#anyJobKey())
        return scheduler.resumeTrigger(await this.#anyTriggerKey())
      case 'pauseMany':
        if (what === 1) return scheduler.pauseAll()
        return what === 2 ? scheduler.pauseTriggers(triggerMatcher) : scheduler.pauseJobs(jobMatcher)
      case 'resumeMany':
        if (what === 1) return scheduler.resumeAll()
        return what === 2 ? scheduler.resumeTriggers(triggerMatcher) : scheduler.resumeJobs(jobMatcher)
    }
  }

  async #reschedule(): Promise<unknown> {
    const key = await this.#anyTriggerKey()
    const old = await this.#scheduler.getTrigger(key)
    if (old?.jobKey === undefined || old.jobKey === null) return null
    const fresh = this.#trigger(old.jobKey)
    const isOurs = triggerGroups.some((group) => group === key.group)
    const keepsKey = isOurs && this.#random.chance(0.7)
    return this.#scheduler.rescheduleJob(
      key,
      keepsKey ? fresh.getTriggerBuilder().withIdentity(key).build() : fresh,
    )
  }

  #job(): JobDetail {
    const random = this.#random
    const builder = JobBuilder.newJob(random.pick(simJobTypes)).withIdentity(
      `job${random.integer(1, 12)}`,
      random.pick(jobGroups),
    )
    return (random.chance(0.3) ? builder.storeDurably() : builder).build()
  }

  #trigger(jobKey: JobKey): ReturnType<typeof randomTrigger> {
    const name = `t${++this.#names}`
    return randomTrigger(this.#random, { name, jobKey, nowMs: this.#clock.now() })
  }

  async #anyJobKey(): Promise<JobKey> {
    const keys = await this.#scheduler.getJobKeys(GroupMatcher.anyGroup())
    return keys.length === 0 ? new JobKey('nobody') : this.#random.pick(keys)
  }

  async #anyTriggerKey(): Promise<TriggerKey> {
    const keys = await this.#scheduler.getTriggerKeys(GroupMatcher.anyGroup())
    const picked = keys.length === 0 ? undefined : this.#random.pick(keys)
    return picked ?? this.#trigger(counterJobKey).key
  }
}
