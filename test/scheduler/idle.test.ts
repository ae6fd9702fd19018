import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { inProcessThreadPool, zeroSizeThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

/** Ten milliseconds that no clock of ours holds. */
const realWork = (): Promise<void> => setTimeout(10)

const stores: [string, () => JobStore][] = [
  ['in memory', () => ramJobStore()],
  ['in SQLite', () => sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db') })],
]

describe.each(stores)('idle, %s', (_, jobStore) => {
  async function working(size: number, mayWork: Promise<unknown> = Promise.resolve()) {
    const clock = new ManualClock()
    const ended: string[] = []
    const work = defineJob('work', async ({ triggerKey: { name }, scheduler, jobKey }) => {
      await mayWork
      await realWork()
      if (name === 'chain') await scheduler.triggerJob(jobKey)
      ended.push(name)
    })
    const scheduler = await createScheduler({
      clock,
      jobs: [work],
      jobStore: jobStore(),
      threadPool: inProcessThreadPool({ size }),
      logger: false,
    })
    const at = (name: string, inMs = 0) =>
      TriggerBuilder.newTrigger({ clock })
        .withIdentity(name)
        .startAt(new Date(clock.now() + inMs))
    const job = JobBuilder.newJob(work).withIdentity('job').storeDurably()
    return { clock, scheduler, ended, at, job }
  }

  it('waits for a job that does real work, and for the store to know', async () => {
    const gate = new EventEmitter()
    const { clock, scheduler, ended, at, job } = await working(5, once(gate, 'open'))
    await scheduler.scheduleJob(job.build(), at('once', 1000).build())
    await scheduler.start()
    await clock.advance(1000)
    expect(ended).toEqual([])
    const idle = scheduler.idle()
    gate.emit('open')
    await idle
    expect(ended).toEqual(['once'])
    expect(await scheduler.getTrigger(triggerKey('once'))).toBeNull()
    await scheduler.shutdown()
  })

  it('waits until the slots have been through all that is due, and not for what comes later', async () => {
    const { scheduler, ended, at, job } = await working(2)
    const names = Array.from({ length: 9 }, (_unused, index) => `t${index}`)
    const due = names.map((name) => at(name).build())
    const hourly = at('hourly', 3_600_000).withSchedule(SimpleScheduleBuilder.repeatHourlyForever()).build()
    await scheduler.scheduleJob(job.disallowConcurrentExecution().build(), [...due, hourly])
    await scheduler.start()
    await scheduler.idle()
    expect(ended).toEqual(names)
    await scheduler.shutdown()
  })

  it('waits for what an execution makes due', async () => {
    const { scheduler, ended, at, job } = await working(5)
    await scheduler.scheduleJob(job.build(), at('chain').build())
    await scheduler.start()
    await scheduler.idle()
    expect(ended).toEqual(['chain', expect.stringMatching(/^MT_/)])
    await scheduler.shutdown()
  })

  it('sees what was scheduled just before', async () => {
    const { scheduler, ended, at, job } = await working(5)
    await scheduler.start()
    await scheduler.idle()
    await scheduler.scheduleJob(job.build(), at('new').build())
    await scheduler.idle()
    expect(ended).toEqual(['new'])
    await scheduler.shutdown()
  })

  it.each([1, 5, 60])('ends %i ms before a trigger is due, which the loop holds', async (beforeMs) => {
    const { clock, scheduler, ended, at, job } = await working(5)
    await scheduler.scheduleJob(job.build(), at('next', 1000).build())
    await scheduler.start()
    await clock.advance(1000 - beforeMs)
    await scheduler.idle()
    expect(ended).toEqual([])
    await scheduler.scheduleJob(JobBuilder.newJob('work').build(), at('now').build())
    await scheduler.idle()
    expect(ended).toEqual(['now'])
    await clock.advance(beforeMs)
    await scheduler.idle()
    expect(ended).toEqual(['now', 'next'])
    await scheduler.shutdown()
  })

  it('waits for running executions only where nothing is fired', async () => {
    const { scheduler, ended, at, job } = await working(1)
    await scheduler.scheduleJob(job.build(), [at('first').build(), at('second').build()])
    await scheduler.idle()
    expect(ended).toEqual([])
    const begun = scheduler.events.next('jobToBeExecuted')
    await scheduler.start()
    await begun
    await scheduler.standby()
    await scheduler.idle()
    expect(ended).toEqual(['first'])
    await scheduler.start()
    await scheduler.idle()
    expect(ended).toEqual(['first', 'second'])
    await scheduler.shutdown()
    await scheduler.idle()
  })
})

describe('idle', () => {
  it('ends on a node without slots, and by a shutdown', async () => {
    const clock = new ManualClock()
    const work = defineJob('work', () => {})
    await using scheduler = await createScheduler({
      clock,
      jobs: [work],
      threadPool: zeroSizeThreadPool(),
      logger: false,
    })
    await scheduler.scheduleJob(JobBuilder.newJob(work).build(), TriggerBuilder.newTrigger({ clock }).build())
    await scheduler.start()
    await scheduler.idle()
  })

  it('waits for a store that is away', async () => {
    const { scheduler, clock, store, ran, job, once } = await schedulerFixture()
    await scheduler.start()
    await scheduler.idle()
    store.failOn({ operation: 'acquireNextTriggers', times: 3 })
    await scheduler.scheduleJob(job('j'), once('t'))
    let isIdle = false
    const idle = scheduler.idle().then(() => {
      isIdle = true
    })
    await clock.settle()
    expect([isIdle, ran]).toEqual([false, []])
    await clock.advance(1000)
    await idle
    expect(ran).toEqual(['j'])
    await scheduler.shutdown()
  })
})

describe('a trigger that starts now by another clock than that of its scheduler', () => {
  async function warningsAbout(clock: ManualClock, builderClock: ManualClock | undefined, start?: Date) {
    const warnings: string[] = []
    const warn = (_fields: object, message: string): void => {
      if (message.includes('newTrigger({ clock })')) warnings.push(message)
    }
    const work = defineJob('work', () => {})
    await using scheduler = await createScheduler({ clock, jobs: [work], logger: { ...silentLogger, warn } })
    for (const name of ['first', 'second']) {
      const options = builderClock === undefined ? {} : { clock: builderClock }
      const builder = TriggerBuilder.newTrigger(options).withIdentity(name).endAt(new Date('2100-01-01'))
      const trigger = (start === undefined ? builder : builder.startAt(start)).build()
      await scheduler.scheduleJob(JobBuilder.newJob(work).build(), trigger)
    }
    return warnings
  }

  it.each(['2020-01-01T00:00:00Z', '2090-01-01T00:00:00Z'])('is warned of once, at %s', async (at) => {
    const warnings = await warningsAbout(new ManualClock(new Date(at)), undefined)
    expect(warnings).toEqual([
      expect.stringMatching(/^Trigger DEFAULT\.first starts at .*by the machine's clock/),
    ])
  })

  it('is not when the builder has the clock, the start is given, or the clocks agree', async () => {
    const clock = new ManualClock(new Date('2020-01-01T00:00:00Z'))
    expect(await warningsAbout(clock, clock)).toEqual([])
    expect(await warningsAbout(clock, undefined, new Date('2021-01-01T00:00:00Z'))).toEqual([])
    expect(await warningsAbout(new ManualClock(new Date()), undefined)).toEqual([])
  })
})
