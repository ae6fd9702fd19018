import { afterEach, describe, expect, it } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { type SchedulerFixture, schedulerFixture } from '../support/scheduler-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const open: Scheduler[] = []
afterEach(async () => {
  for (const scheduler of open.splice(0)) await scheduler.shutdown()
})

async function startedFixture(): Promise<SchedulerFixture> {
  const fixture = await schedulerFixture()
  open.push(fixture.scheduler)
  await fixture.scheduler.scheduleJob(fixture.job('j'), fixture.everySecond('t'))
  await fixture.scheduler.start()
  return fixture
}

const t = triggerKey('t')

async function pauseOf(scheduler: Scheduler): Promise<unknown> {
  return (await scheduler.queryTriggers({ name: 't' })).items[0]?.pause
}

describe('a pause with an end', () => {
  it('is refused with a duration, and says how a Date says the same', async () => {
    const { scheduler } = await startedFixture()
    await expect(scheduler.pauseTrigger(t, { until: '2h' } as never)).rejects.toThrow(
      /'until' must be a valid Date, got '2h'\. .*new Date\(Date\.now\(\) \+ /,
    )
  })

  it('ends by itself at its instant, and fires again', async () => {
    const { clock, scheduler, ran, told } = await startedFixture()
    const until = new Date(clock.now() + 100_500)
    await scheduler.pauseTrigger(t, { reason: 'broken', by: 'ann', until })
    expect(await pauseOf(scheduler)).toEqual({
      scope: 'trigger',
      reason: 'broken',
      by: 'ann',
      sinceMs: clock.now(),
      untilMs: until.getTime(),
    })
    await clock.advance(100_000)
    await scheduler.idle()
    expect(ran).toEqual([])
    await clock.advance(500)
    await scheduler.idle()
    expect(await scheduler.getTriggerState(t)).toBe('NORMAL')
    await clock.advance(500)
    await scheduler.idle()
    expect(ran).toHaveLength(1)
    expect(told.filter((line) => line.startsWith('trigger'))).toEqual(['triggerPaused t', 'triggerResumed t'])
    expect(await pauseOf(scheduler)).toBeNull()
  })

  it('of a job, of groups and of everything ends and is told as what it was', async () => {
    const { clock, scheduler, told } = await startedFixture()
    const until = new Date(clock.now() + 5000)
    await scheduler.pauseJob(jobKey('j'), { until })
    await scheduler.pauseJobs(GroupMatcher.anyGroup(), { until })
    await scheduler.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'), { until })
    await scheduler.pauseAll({ until })
    expect((await scheduler.getPausedGroups()).jobGroups[0]?.pause?.untilMs).toBe(until.getTime())
    await clock.advance(5000)
    await scheduler.idle()
    expect(told.filter((line) => line.includes('Resumed')).sort()).toEqual([
      'jobResumed j',
      'jobsResumed DEFAULT',
      'triggersResumed DEFAULT',
      'triggersResumed null',
    ])
    expect(await scheduler.getTriggerState(t)).toBe('NORMAL')
    expect(await scheduler.getPausedGroups()).toEqual({
      triggerGroups: [],
      jobGroups: [],
      everyNewTriggerGroup: false,
    })
  })

  it('ends at the start of a scheduler when none was running at its instant', async () => {
    const clock = new ManualClock()
    const filename = `${temporaryFolder()}/pauses.db`
    const make = (): Promise<SchedulerFixture> =>
      schedulerFixture({ clock, jobStore: sqliteJobStore({ filename }) })
    const first = await make()
    await first.scheduler.scheduleJob(first.job('j'), first.everySecond('t'))
    await first.scheduler.pauseTrigger(t, { until: new Date(clock.now() + 5000) })
    await first.scheduler.shutdown()
    await clock.advance(3_600_000)
    const second = await make()
    open.push(second.scheduler)
    expect(await second.scheduler.getTriggerState(t)).toBe('PAUSED')
    await second.scheduler.start()
    await second.scheduler.idle()
    expect(await second.scheduler.getTriggerState(t)).toBe('NORMAL')
    expect(second.told).toContain('triggerResumed t')
  })

  it('ends while a listener does not answer the end of another one', async () => {
    const { clock, scheduler, job, everySecond } = await startedFixture()
    await scheduler.scheduleJob(job('k'), everySecond('u'))
    let answer = (): void => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    scheduler.listenerManager.addSchedulerListener({
      triggerResumed: ({ name }) => (name === 't' ? answered : undefined),
    })
    await scheduler.pauseTrigger(t, { until: new Date(clock.now() + 5000) })
    await scheduler.pauseTrigger(triggerKey('u'), { until: new Date(clock.now() + 6000) })
    await clock.advance(6000)
    await scheduler.idle()
    expect(await scheduler.getTriggerState(t)).toBe('NORMAL')
    expect(await scheduler.getTriggerState(triggerKey('u'))).toBe('NORMAL')
    answer()
  })

  it('goes on when the store fails meanwhile', async () => {
    const { clock, scheduler, store } = await startedFixture()
    await scheduler.pauseTrigger(t, { until: new Date(clock.now() + 5000) })
    store.failOn({ operation: 'endPauses' })
    await clock.advance(5000)
    await scheduler.idle()
    expect(await scheduler.getTriggerState(t)).toBe('PAUSED')
    await clock.advance(10_000)
    await scheduler.idle()
    expect(await scheduler.getTriggerState(t)).toBe('NORMAL')
  })

  it('does not end while the scheduler stands by', async () => {
    const { clock, scheduler } = await startedFixture()
    await scheduler.pauseTrigger(t, { until: new Date(clock.now() + 5000) })
    await scheduler.standby()
    await clock.advance(20_000)
    expect(await scheduler.getTriggerState(t)).toBe('PAUSED')
    await scheduler.start()
    await scheduler.idle()
    expect(await scheduler.getTriggerState(t)).toBe('NORMAL')
  })
})

describe('an instant to end at', () => {
  it('must lie ahead', async () => {
    const { clock, scheduler } = await startedFixture()
    await expect(scheduler.pauseTrigger(t, { until: new Date(clock.now()) })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      field: 'until',
    })
  })
})

describe('resuming and skipping', () => {
  it('resumes without what was missed', async () => {
    const { clock, scheduler, ran } = await startedFixture()
    await scheduler.pauseAll()
    await clock.advance(10_500)
    await scheduler.resumeAll({ withoutMissed: true })
    await scheduler.idle()
    expect(ran).toEqual([])
    await clock.advance(500)
    await scheduler.idle()
    expect(ran).toHaveLength(1)
  })

  it('skips the next fire and says which it was', async () => {
    const { clock, scheduler, ran } = await startedFixture()
    const startMs = clock.now()
    expect(await scheduler.skipNextFire(t)).toEqual({
      skipped: new Date(startMs + 1000),
      next: new Date(startMs + 2000),
    })
    await clock.advance(1500)
    await scheduler.idle()
    expect(ran).toEqual([])
    await clock.advance(500)
    await scheduler.idle()
    expect(ran).toHaveLength(1)
    expect(await scheduler.skipNextFire(triggerKey('none'))).toBeNull()
  })
})
