import { describe, expect, it } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { LoopFixture } from '../support/loop-fixture.ts'

/** A loop that holds a claim on `held`, beside a trigger that has nothing to do with it. */
async function holding(): Promise<LoopFixture> {
  const fixture = await LoopFixture.create()
  await fixture.schedule('held', { inMs: 5000 })
  await fixture.schedule('other', { inMs: 60_000, everyMs: 1000 })
  await fixture.settled(fixture.scheduler.start())
  await fixture.clock.advance(100)
  expect(fixture.timesOf('acquireNextTriggers')).toHaveLength(1)
  return fixture
}

describe('a loop that holds claims keeps them', () => {
  const changes: [string, (scheduler: Scheduler) => Promise<unknown>][] = [
    ['when another trigger is paused', (it) => it.pauseTrigger(new TriggerKey('other'))],
    ['when another job is paused', (it) => it.pauseJob(new JobKey('other'))],
    ['when an empty group is paused', (it) => it.pauseTriggers(GroupMatcher.groupEquals('empty'))],
    ['when another trigger is deleted', (it) => it.unscheduleJob(new TriggerKey('other'))],
    ['when another job is deleted', (it) => it.deleteJob(new JobKey('other'))],
    [
      'when a calendar is stored',
      (it) =>
        it.addCalendar('holidays', new HolidayCalendar({ timeZone: 'UTC', excludedDates: ['2026-12-25'] })),
    ],
    ['when nothing is resumed', (it) => it.resumeAll()],
  ]
  it.each(changes)('%s', async (_when, change) => {
    const fixture = await holding()
    await fixture.settled(change(fixture.scheduler))
    await fixture.clock.advance(1000)
    expect(fixture.timesOf('releaseAcquiredTriggers')).toEqual([])
    expect(fixture.timesOf('acquireNextTriggers')).toHaveLength(1)
    await fixture.clock.advance(5000)
    expect(fixture.ran).toEqual(['held@5000'])
    await fixture.settled(fixture.scheduler.shutdown())
  })

  it('and gives them back for something earlier, once', async () => {
    const fixture = await holding()
    await fixture.schedule('earlier', { inMs: 2000 })
    await fixture.clock.advance(6000)
    expect(fixture.timesOf('releaseAcquiredTriggers')).toHaveLength(1)
    expect(fixture.ran).toEqual(['earlier@2100', 'held@5000'])
    await fixture.settled(fixture.scheduler.shutdown())
  })
})
