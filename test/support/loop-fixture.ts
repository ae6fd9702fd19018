import { seededIds } from '../../src/core/ids.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import {
  SimpleScheduleBuilder,
  type SimpleTrigger,
} from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { SimpleMisfireInstruction } from '../../src/triggers/misfire-instruction.ts'
import { interceptJobStore, type StoreCall, type StoreMethod } from './intercept-job-store.ts'
import { SimClock } from './sim-clock.ts'

/** One run of a job, in milliseconds since the fixture was made. */
export interface Run {
  readonly name: string
  readonly atMs: number
  readonly plannedMs: number
}

export interface TriggerWish {
  readonly inMs?: number
  /** Repeats for ever; without it the trigger fires once. */
  readonly everyMs?: number
  /** How long its job runs. */
  readonly durationMs?: number
  readonly misfire?: SimpleMisfireInstruction
  /** Several triggers of one name of a job share the job. */
  readonly job?: string
  readonly exclusive?: boolean
}

/** A scheduler on a virtual clock and a RAM store, every call of which is noted and can be tampered with. */
export class LoopFixture {
  readonly clock: SimClock = new SimClock(startMs)
  readonly ram: RAMJobStore = new RAMJobStore()
  readonly runs: Run[] = []
  readonly errors: string[] = []
  readonly calls: { readonly method: StoreMethod; readonly atMs: number }[] = []
  /** What happens at a call of the store; by default it is carried out. */
  around: (call: StoreCall) => Promise<unknown> = (call) => call.proceed()
  #scheduler: Scheduler | null = null

  static async create(options: SchedulerOptions = {}): Promise<LoopFixture> {
    const fixture = new LoopFixture()
    await fixture.#open(options)
    return fixture
  }

  get scheduler(): Scheduler {
    if (this.#scheduler === null) throw new Error('The fixture is not open.')
    return this.#scheduler
  }

  /** Milliseconds since the fixture was made, by the wall clock. */
  get nowMs(): number {
    return this.clock.now() - startMs
  }

  /** `name@time` of each run so far. */
  get ran(): readonly string[] {
    return this.runs.map(({ name, atMs }) => `${name}@${atMs}`)
  }

  /** Waits for what may itself need the virtual clock to go on. */
  async settled<Answer>(operation: Promise<Answer>): Promise<Answer> {
    await this.clock.runUntil(operation, dayMs)
    return operation
  }

  timesOf(method: StoreMethod): readonly number[] {
    return this.calls.filter((call) => call.method === method).map(({ atMs }) => atMs)
  }

  trigger(name: string, wish: TriggerWish = {}): SimpleTrigger {
    const schedule = SimpleScheduleBuilder.simpleSchedule()
      .withIntervalInMilliseconds(wish.everyMs ?? 0)
      .withRepeatCount(wish.everyMs === undefined ? 0 : -1)
      .withMisfireInstruction(wish.misfire ?? 'smart')
    return TriggerBuilder.newTrigger({ clock: this.clock })
      .withIdentity(name)
      .startAt(new Date(this.clock.now() + (wish.inMs ?? 0)))
      .usingJobData({ durationMs: wish.durationMs ?? 0 })
      .withSchedule(schedule)
      .build()
  }

  /** Schedules a trigger with a job of its own, or one more for a job that exists. */
  schedule(name: string, wish: TriggerWish = {}): Promise<void> {
    return this.settled(this.#schedule(name, wish))
  }

  async #schedule(name: string, wish: TriggerWish): Promise<void> {
    const jobName = wish.job ?? name
    const builder = JobBuilder.newJob('note').withIdentity(jobName)
    if (wish.exclusive === true) builder.disallowConcurrentExecution()
    const job = builder.build()
    const trigger = this.trigger(name, wish)
    if (await this.scheduler.checkExists(job.key)) {
      await this.scheduler.scheduleJob(trigger.withJobKey(job.key))
    } else {
      await this.scheduler.scheduleJob(job, trigger)
    }
  }

  /** Names of the triggers that can be acquired now although they may be due later; they are given back. */
  async acquirable(): Promise<readonly string[]> {
    const claims = await this.ram.acquireNextTriggers({
      noLaterThanMs: this.clock.now() + dayMs,
      maxCount: 1000,
      timeWindowMs: dayMs,
    })
    await this.ram.releaseAcquiredTriggers(claims)
    return claims.map(({ trigger }) => trigger.key.name).sort()
  }

  /** Names of the triggers that the store holds and that wait for their time. */
  async waiting(): Promise<readonly string[]> {
    const names: string[] = []
    for (const key of await this.ram.getTriggerKeys(GroupMatcher.anyGroup())) {
      const trigger = await this.ram.getTrigger(key)
      const state = await this.ram.getTriggerState(key)
      if (state === 'NORMAL' && trigger?.nextFireTimeMs !== null) names.push(key.name)
    }
    return names.sort()
  }

  async #open(options: SchedulerOptions): Promise<void> {
    const store = interceptJobStore(this.ram, (call) => {
      this.calls.push({ method: call.method, atMs: this.nowMs })
      // What is in the store when all is over is looked at.
      return call.method === 'shutdown' ? Promise.resolve() : this.around(call)
    })
    this.#scheduler = await createScheduler({
      logger: false,
      clock: this.clock,
      ids: seededIds(1),
      jobStore: store,
      jobs: [this.#noteJob()],
      ...options,
    })
    this.#scheduler.events.on('schedulerError', ({ message }) => this.errors.push(message))
  }

  #noteJob(): ReturnType<typeof defineJob<{ durationMs: number }>> {
    return defineJob<{ durationMs: number }>('note', async (context) => {
      const plannedMs = context.scheduledFireTime.getTime() - startMs
      this.runs.push({ name: context.triggerKey.name, atMs: this.nowMs, plannedMs })
      const { durationMs } = context.mergedJobDataMap
      if (durationMs > 0) await this.clock.sleep(durationMs)
    })
  }
}

const startMs = Date.UTC(2026, 0, 15, 12)
const dayMs = 86_400_000
