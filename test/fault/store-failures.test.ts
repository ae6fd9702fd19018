import { describe, expect, it } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobStoreOperation } from '../../src/jobstore/delegating-job-store.ts'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { type SchedulerFixture, schedulerFixture } from '../support/scheduler-fixture.ts'

const any = GroupMatcher.anyGroup()

/** A call of the scheduler, by the store operation that it depends on. */
const calls: readonly (readonly [JobStoreOperation, (fixture: SchedulerFixture) => Promise<unknown>])[] = [
  ['scheduleJobs', ({ scheduler, job, once }) => scheduler.scheduleJob(job('new'), once('new', 60_000))],
  ['addJob', ({ scheduler, job }) => scheduler.addJob(job('new', (builder) => builder.storeDurably()))],
  ['getJob', ({ scheduler }) => scheduler.triggerJob(jobKey('j'))],
  ['rescheduleTrigger', ({ scheduler, once }) => scheduler.rescheduleJob(triggerKey('t'), once('t', 90_000))],
  ['deleteTriggers', ({ scheduler }) => scheduler.unscheduleJob(triggerKey('t'))],
  ['deleteJobs', ({ scheduler }) => scheduler.deleteJob(jobKey('j'))],
  ['clear', ({ scheduler }) => scheduler.clear()],
  ['getTrigger', ({ scheduler }) => scheduler.getTrigger(triggerKey('t'))],
  ['getTriggersOfJob', ({ scheduler }) => scheduler.getTriggersOfJob(jobKey('j'))],
  ['queryJobs', ({ scheduler }) => scheduler.queryJobs()],
  ['queryTriggers', ({ scheduler }) => scheduler.queryTriggers()],
  ['getJobKeys', ({ scheduler }) => scheduler.getJobKeys(any)],
  ['getTriggerKeys', ({ scheduler }) => scheduler.getTriggerKeys(any)],
  ['getJobGroupNames', ({ scheduler }) => scheduler.getJobGroupNames()],
  ['getTriggerGroupNames', ({ scheduler }) => scheduler.getTriggerGroupNames()],
  ['getTriggerState', ({ scheduler }) => scheduler.getTriggerState(triggerKey('t'))],
  ['resetTriggerFromErrorState', ({ scheduler }) => scheduler.resetTriggerFromErrorState(triggerKey('t'))],
  ['pauseTrigger', ({ scheduler }) => scheduler.pauseTrigger(triggerKey('t'))],
  ['pauseTriggers', ({ scheduler }) => scheduler.pauseTriggers(any)],
  ['pauseJob', ({ scheduler }) => scheduler.pauseJob(jobKey('j'))],
  ['pauseJobs', ({ scheduler }) => scheduler.pauseJobs(any)],
  ['pauseAll', ({ scheduler }) => scheduler.pauseAll()],
  ['resumeTrigger', ({ scheduler }) => scheduler.resumeTrigger(triggerKey('t'))],
  ['resumeTriggers', ({ scheduler }) => scheduler.resumeTriggers(any)],
  ['resumeJob', ({ scheduler }) => scheduler.resumeJob(jobKey('j'))],
  ['resumeJobs', ({ scheduler }) => scheduler.resumeJobs(any)],
  ['resumeAll', ({ scheduler }) => scheduler.resumeAll()],
  ['getPausedGroups', ({ scheduler }) => scheduler.getPausedTriggerGroups()],
  ['getPausedGroups', ({ scheduler }) => scheduler.getPausedJobGroups()],
  ['addCalendar', ({ scheduler }) => scheduler.addCalendar('c', new WeeklyCalendar())],
  ['deleteCalendar', ({ scheduler }) => scheduler.deleteCalendar('c')],
  ['getCalendar', ({ scheduler }) => scheduler.getCalendar('c')],
  ['getCalendarNames', ({ scheduler }) => scheduler.getCalendarNames()],
  ['schedulerStarted', ({ scheduler }) => scheduler.start()],
]

describe('a store that fails while somebody waits for the answer', () => {
  it.each(calls)(
    '%s: the caller is told, nobody else is, and the next call works',
    async (operation, call) => {
      const fixture = await schedulerFixture()
      const { scheduler, store, told, errors, job, once, clock, ran } = fixture
      await scheduler.scheduleJob(job('j'), once('t', 60_000))
      told.length = 0
      store.failOn({ operation })
      await expect(call(fixture)).rejects.toMatchObject({ code: 'ERR_JOB_PERSISTENCE' })
      expect(told.filter((callback) => callback !== 'schedulerStarting')).toEqual([])
      expect(errors).toEqual([])
      await call(fixture)
      await scheduler.scheduleJob(job('after'), once('after'))
      await scheduler.start()
      await scheduler.resumeAll()
      await clock.advance(1000)
      expect(ran).toContain('after')
      await scheduler.shutdown()
      expect(clock.timerCount).toBe(0)
    },
  )
})

const loopOperations = [
  'acquireNextTriggers',
  'releaseAcquiredTriggers',
  'triggersFired',
  'triggeredJobsComplete',
] as const

describe('a store that fails while the loop asks it', () => {
  const cases = loopOperations.flatMap((operation) =>
    (['before', 'after'] as const).flatMap((when) =>
      [1, 2, 3].flatMap((nth) => [1, 4].map((times) => ({ operation, when, nth, times }))),
    ),
  )

  it.each(cases)(
    '$operation fails $when doing its work, call $nth, $times in a row: it goes on',
    async (fault) => {
      const { scheduler, clock, store, ran, errors, job, everySecond, once } = await schedulerFixture({
        maxBatchSize: 2,
        batchTimeWindowMs: 500,
      })
      const exclusive = job('exclusive', (builder) => builder.disallowConcurrentExecution())
      await scheduler.scheduleJob(exclusive, everySecond('exclusive'))
      await scheduler.scheduleJob(job('plain'), everySecond('plain', 1200))
      store.failOn(fault)
      await scheduler.start()
      await clock.advance(2500)
      // Something earlier turns up, so that claims are given back too.
      await scheduler.scheduleJob(job('earlier'), once('earlier', 100))
      await clock.advance(60_000)
      for (const name of ['exclusive', 'plain']) expect(ran).toContain(name)
      // A firing whose answer was lost is ended without a run, and that was the only one of this trigger.
      if (fault.operation !== 'triggersFired' || fault.when === 'before') expect(ran).toContain('earlier')
      ran.length = 0
      await clock.advance(5000)
      expect(ran.filter((name) => name === 'exclusive')).toHaveLength(5)
      expect(ran.filter((name) => name === 'plain')).toHaveLength(5)
      // One series of failures is told once by whoever met it.
      expect(errors.length).toBeLessThanOrEqual(2)
      await scheduler.standby()
      await clock.advance(2000)
      for (const name of ['exclusive', 'plain']) {
        expect(await scheduler.getTriggerState(triggerKey(name))).toBe('NORMAL')
      }
      expect(
        await store.acquireNextTriggers({
          noLaterThanMs: clock.now() + 10_000,
          maxCount: 9,
          timeWindowMs: 9999,
        }),
      ).toHaveLength(2)
      store.heal()
      await scheduler.shutdown()
    },
  )

  it('waits longer and longer, and tells of a series once', async () => {
    const { scheduler, clock, store, ran, errors, job, once } = await schedulerFixture()
    store.failOn({ operation: 'acquireNextTriggers', times: Number.POSITIVE_INFINITY })
    await scheduler.scheduleJob(job('j'), once('t', 1000))
    await scheduler.start()
    await clock.advance(3_600_000)
    expect(errors).toHaveLength(1)
    expect(store.callsOf('acquireNextTriggers')).toBeLessThan(3_600_000 / 20)
    store.heal()
    await clock.advance(60_000)
    expect(ran).toEqual(['j'])
    await scheduler.shutdown()
  })

  it('shuts down all the same when the shutdown of the store fails', async () => {
    const { scheduler, clock, store, errors } = await schedulerFixture()
    await scheduler.start()
    store.failOn({ operation: 'shutdown' })
    await scheduler.shutdown()
    expect(scheduler.isShutdown).toBe(true)
    expect(errors).toHaveLength(1)
    expect(clock.timerCount).toBe(0)
  })
})
