import { describe, expect, it } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import type { ScheduleOptions } from '../../src/jobs/schedule-options.ts'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const hourMs = 3_600_000
const utc = (text: string): Date => new Date(`2026-01-${text}Z`)

/** A scheduler that has not started at 10:30, and what its job was to run. */
async function downAtHalfPastTen() {
  const ran: string[] = []
  const job = defineJob('job', ({ scheduledFireTime }) => {
    ran.push(scheduledFireTime.toISOString().slice(8, 16))
  })
  const { scheduler, clock } = await schedulerFixture({ jobs: [job] })
  clock.jump(utc('01T10:30').getTime() - clock.now())
  return { scheduler, clock, job, ran }
}

describe('a schedule that was due while the program was down', () => {
  it.each<[string, ScheduleOptions, object]>([
    ['at', { at: utc('01T12:00') }, { at: utc('01T12:00'), priority: 7 }],
    ['cron', { cron: '0 * * * *', endAt: utc('01T12:15') }, { cron: '0 * * * *', endAt: utc('01T12:45') }],
    [
      'cron',
      { cron: '0 12 * * *', endAt: utc('01T12:15') },
      { cron: '*/30 * * * *', endAt: utc('01T12:15') },
    ],
    [
      'every',
      { every: '1h', startAt: utc('01T12:00'), endAt: utc('01T12:15'), misfireInstruction: 'ignore' },
      { priority: 7 },
    ],
  ])('runs, also where its times have passed when it is changed: %s, %j, %j', async (_, first, change) => {
    const { scheduler, clock, job, ran } = await downAtHalfPastTen()
    const zone = 'cron' in first ? { zone: 'UTC' } : {}
    await scheduler.schedule(job, { key: 'k', ...first, ...zone } as ScheduleOptions)
    clock.jump(2.5 * hourMs)
    const changed = { key: 'k', ...first, ...zone, ...change } as ScheduleOptions
    expect((await scheduler.schedule(job, changed)).change).toBe('changed')
    await scheduler.start()
    await clock.advance(1000)
    expect(ran).toHaveLength(1)
    expect((await scheduler.schedule(job, changed)).change).toBe('unchanged')
    await clock.advance(24 * hourMs)
    expect(ran).toHaveLength(1)
    await scheduler.shutdown()
  })

  it('does not run where its new end comes before what was due', async () => {
    const { scheduler, clock, job, ran } = await downAtHalfPastTen()
    const daily = { key: 'k', daily: '12:00', zone: 'UTC' } as const
    await scheduler.schedule(job, { ...daily, endAt: utc('01T12:15') })
    clock.jump(2.5 * hourMs)
    const { change, nextFireTime } = await scheduler.schedule(job, { ...daily, endAt: utc('01T11:59') })
    expect([change, nextFireTime]).toEqual(['changed', null])
    await scheduler.start()
    await clock.advance(24 * hourMs)
    expect(ran).toEqual([])
    await scheduler.shutdown()
  })
})

describe('a schedule of which its calendar leaves no time', () => {
  const excluding = (...excludedDates: string[]): HolidayCalendar =>
    new HolidayCalendar({ excludedDates, timeZone: 'UTC' })

  it('is left alone where it is declared as before', async () => {
    const { scheduler, job } = await downAtHalfPastTen()
    await scheduler.addCalendar('c', excluding())
    const declared = {
      key: 'k',
      daily: '12:00',
      zone: 'UTC',
      startAt: utc('01T11:00'),
      endAt: utc('02T13:00'),
      calendarName: 'c',
    } as const
    await scheduler.schedule(job, declared)
    await scheduler.addCalendar('c', excluding('2026-01-01', '2026-01-02'), {
      replace: true,
      updateTriggers: true,
    })
    expect(await scheduler.schedule(job, declared)).toMatchObject({ change: 'unchanged', nextFireTime: null })
    await scheduler.addCalendar('c', excluding('2026-01-01'), { replace: true, updateTriggers: true })
    expect((await scheduler.getTrigger(triggerKey('k')))?.nextFireTime).toEqual(utc('02T12:00'))
    await scheduler.shutdown()
  })

  it('is no error where it is new, and begins when its calendar leaves some', async () => {
    const { scheduler, job } = await downAtHalfPastTen()
    const without = (hours: string): CronCalendar =>
      new CronCalendar({ expression: `* * ${hours} * * ?`, timeZone: 'UTC' })
    await scheduler.addCalendar('c', without('10-14'))
    const declared = { key: 'k', daily: '12:00', zone: 'UTC', calendarName: 'c' } as const
    expect(await scheduler.schedule(job, declared)).toMatchObject({ change: 'added', nextFireTime: null })
    expect(await scheduler.schedule(job, declared)).toMatchObject({ change: 'unchanged', nextFireTime: null })
    await scheduler.addCalendar('c', without('10'), { replace: true, updateTriggers: true })
    expect(await scheduler.schedule(job, declared)).toMatchObject({ nextFireTime: utc('01T12:00') })
    await scheduler.shutdown()
  })
})
