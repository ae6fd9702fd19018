import { describe, expect, it, onTestFinished } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import type { ScheduleOptions } from '../../src/jobs/schedule-options.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { ManualClock } from '../../src/time/manual-clock.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const key = triggerKey('k')
const [second, minute, hour] = [1000, 60_000, 3_600_000]

describe.each([
  { name: 'RAM', make: () => new RAMJobStore() },
  { name: 'SQLite', make: () => sqliteJobStore({ filename: ':memory:' }) },
])('a key that is declared otherwise, on $name,', ({ make }) => {
  async function fixture() {
    const { scheduler, clock, ran } = await schedulerFixture({ jobStore: make() })
    onTestFinished(() => scheduler.shutdown())
    /** Answers in how many milliseconds it runs next. */
    const declare = async (when: ScheduleOptions): Promise<number | null> => {
      const { nextFireTime } = await scheduler.schedule('note', { ...when, key: 'k' })
      await scheduler.idle()
      return nextFireTime === null ? null : nextFireTime.getTime() - clock.now()
    }
    const advance = async (ms: number): Promise<void> => {
      await clock.advance(ms)
      await scheduler.idle()
    }
    return { scheduler, clock, ran, declare, advance }
  }
  const after = (clock: ManualClock, ms: number): Date => new Date(clock.now() + ms)

  it('stays paused while its instants have all passed', async () => {
    const { scheduler, clock, ran, declare } = await fixture()
    await declare({ every: '1h' })
    await scheduler.pauseTrigger(key, { by: 'ann' })
    const past = { at: after(clock, -hour) }
    expect([await declare(past), await declare(past)]).toEqual([null, null])
    await declare({ cron: '0 0 * * *', endAt: past.at })
    await scheduler.start()
    await declare({ every: '1h' })
    expect(await scheduler.getTriggerState(key)).toBe('PAUSED')
    expect(ran).toEqual([])
    await scheduler.resumeTrigger(key)
    await scheduler.idle()
    expect(ran).toEqual(['k'])
  })

  it('runs no instant again that ran before another one was declared', async () => {
    const { scheduler, clock, ran, declare, advance } = await fixture()
    await scheduler.start()
    const at = after(clock, 10 * second)
    const later = after(clock, hour)
    await declare({ at })
    await advance(12 * second)
    await declare({ at: later })
    expect(await declare({ at })).toBe(null)
    // What has not run yet is not over, nor is what is late.
    expect(await declare({ at: later })).toBe(hour - 12 * second)
    await declare({ at: new Date(at.getTime() + second) })
    expect(ran).toEqual(['k', 'k'])
    // With other data it is the same instant.
    await scheduler.schedule('note', { key: 'k', at: new Date(at.getTime() + second), data: { x: 1 } })
    await declare({ at: later })
    expect(await declare({ at: new Date(at.getTime() + second) })).toBe(null)
    await declare({ at })
    expect(ran).toEqual(['k', 'k'])
  })

  it('does not wait for a start that it is not declared with any more', async () => {
    const { scheduler, clock, ran, declare, advance } = await fixture()
    await scheduler.start()
    const startAt = after(clock, 1000 * hour)
    expect(await declare({ every: '1h', startAt })).toBe(1000 * hour)
    expect(await declare({ every: '1h' })).toBe(hour)
    await advance(2 * hour)
    expect(ran).toEqual(['k', 'k'])
  })

  it('may end before a start that it is not declared with any more', async () => {
    const { clock, declare } = await fixture()
    await declare({ cron: '0 0 1 1 *', startAt: after(clock, 1000 * hour) })
    expect(await declare({ every: '1h', endAt: after(clock, 10 * hour) })).toBe(hour)
  })

  it('counts its interval from the last run, whatever was declared in between', async () => {
    const { scheduler, clock, ran, declare, advance } = await fixture()
    await scheduler.start()
    await declare({ every: '10m' })
    await advance(minute)
    await declare({ at: after(clock, hour) })
    expect(await declare({ every: '10m' })).toBe(9 * minute)
    await declare({ at: after(clock, -hour) })
    expect(await declare({ every: '10m' })).toBe(9 * minute)
    expect(await declare({ at: after(clock, -minute) })).toBe(null)
    await declare({ in: '1m' })
    await advance(2 * minute)
    expect(await declare({ every: '10m' })).toBe(9 * minute)
    expect(ran).toEqual(['k', 'k'])
    // Whoever deletes the trigger has it begin anew.
    await scheduler.unscheduleJob(key)
    expect(await declare({ every: '10m' })).toBe(0)
  })

  it('counts its interval from the last run of a series that is over', async () => {
    const { scheduler, clock, declare, advance } = await fixture()
    await scheduler.start()
    await declare({ every: '10m', endAt: after(clock, 15 * minute) })
    await advance(14 * minute)
    expect(await scheduler.getTrigger(key)).toBe(null)
    expect(await declare({ every: '10m' })).toBe(6 * minute)
  })

  it('leaves out the times that were skipped by hand', async () => {
    const { scheduler, declare } = await fixture()
    await scheduler.start()
    await declare({ every: '10m' })
    await scheduler.skipNextFire(key)
    await scheduler.skipNextFire(key)
    expect(await declare({ every: '10m' })).toBe(30 * minute)
    expect(await declare({ every: '10m', priority: 6 })).toBe(30 * minute)
    expect(await declare({ every: '4m' })).toBe(4 * minute)
  })
})
