import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const work = defineJob('work', () => {})
const schedules = [
  defineSchedule(work, { key: 'daily', daily: '07:00', zone: 'UTC', calendarName: 'holidays' }),
]
const start = Date.parse('2026-12-24T12:00:00Z')
const closedOn = (...excludedDates: string[]): HolidayCalendar =>
  new HolidayCalendar({ timeZone: 'UTC', excludedDates })
const christmas = closedOn('2026-12-25')
const longer = closedOn('2026-12-25', '2026-12-26')

interface Started {
  readonly scheduler: Scheduler
  readonly store: FaultyJobStore
}

async function started(store: FaultyJobStore, options: SchedulerOptions): Promise<Started> {
  const clock = new ManualClock(start)
  const scheduler = await createScheduler({
    clock,
    logger: false,
    jobStore: store,
    jobs: [work],
    ...options,
  })
  onTestFinished(() => scheduler.shutdown())
  return { scheduler, store }
}

async function nextDay(scheduler: Scheduler): Promise<string | undefined> {
  return (await scheduler.getTrigger(triggerKey('daily')))?.nextFireTime?.toISOString().slice(0, 10)
}

/** A store in which another node replaces the calendar before a schedule is stored. */
class ReplacingStore extends FaultyJobStore {
  readonly #calendar: Calendar

  constructor(inner: JobStore, calendar: Calendar) {
    super(inner)
    this.#calendar = calendar
  }

  override async putPlanned(...call: Parameters<JobStore['putPlanned']>): ReturnType<JobStore['putPlanned']> {
    await this.addCalendar('holidays', this.#calendar, { replace: true, updateTriggers: true })
    return super.putPlanned(...call)
  }
}

/** A calendar of a class of its own, which only memory keeps. */
const never: Calendar = {
  type: 'never',
  description: null,
  baseCalendar: null,
  isTimeIncluded: () => false,
  nextIncludedTime: () => null,
  toJSON: () => ({ type: 'never' }),
}

describe.each([
  ['RAM', () => new RAMJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: join(temporaryFolder('calendars'), 'jobs.db') })],
])('calendars of createScheduler on %s', (_name, newStore) => {
  it('are there for its schedules', async () => {
    const { scheduler } = await started(new FaultyJobStore(newStore()), {
      calendars: { holidays: christmas },
      schedules,
    })
    expect(await nextDay(scheduler)).toBe('2026-12-26')
  })

  it('hold for a schedule that was planned under the one before', async () => {
    const store = new ReplacingStore(newStore(), longer)
    const { scheduler } = await started(store, { calendars: { holidays: christmas }, schedules })
    expect(await nextDay(scheduler)).toBe('2026-12-27')
  })

  it('need no schedules, and take none away', async () => {
    const { scheduler } = await started(new FaultyJobStore(newStore()), {
      calendars: { holidays: christmas, weekends: new WeeklyCalendar({ timeZone: 'UTC' }) },
    })
    expect(await scheduler.getCalendarNames()).toEqual(['holidays', 'weekends'])
    expect(await scheduler.getCalendar('holidays')).toEqual(christmas)
  })
})

describe('calendars of createScheduler at the next start', () => {
  /** Starts of a program over one file, one after the other. */
  function program(): (options: SchedulerOptions) => Promise<Started> {
    const filename = join(temporaryFolder('calendars'), 'jobs.db')
    let last: Scheduler | null = null
    return async (options) => {
      await last?.shutdown()
      const next = await started(new FaultyJobStore(sqliteJobStore({ filename })), options)
      last = next.scheduler
      return next
    }
  }

  it('leave their triggers alone when they are the same', async () => {
    const run = program()
    await run({ calendars: { holidays: christmas }, schedules })
    const { scheduler, store } = await run({ calendars: { holidays: closedOn('2026-12-25') }, schedules })
    expect(store.callsOf('addCalendar')).toBe(0)
    expect(await nextDay(scheduler)).toBe('2026-12-26')
  })

  it('compute the next fire times anew when they have changed, and remove none', async () => {
    const run = program()
    const weekends = new WeeklyCalendar({ timeZone: 'UTC' })
    await run({ calendars: { holidays: christmas, weekends }, schedules })
    const { scheduler } = await run({ calendars: { holidays: longer } })
    expect(await nextDay(scheduler)).toBe('2026-12-27')
    expect(await scheduler.getCalendarNames()).toEqual(['holidays', 'weekends'])
  })

  it('take over what addCalendar has stored', async () => {
    const run = program()
    const { scheduler } = await run({})
    await scheduler.addCalendar('holidays', closedOn())
    await scheduler.reconcile('default', schedules)
    expect(await nextDay(scheduler)).toBe('2026-12-25')
    expect(await nextDay((await run({ calendars: { holidays: longer } })).scheduler)).toBe('2026-12-27')
  })

  it('leave an edit by hand until the program declares another one', async () => {
    const run = program()
    const { scheduler } = await run({ calendars: { holidays: christmas }, schedules })
    await scheduler.addCalendar('holidays', closedOn(), { replace: true, updateTriggers: true })
    const again = await run({ calendars: { holidays: christmas }, schedules })
    expect(await nextDay(again.scheduler)).toBe('2026-12-25')
    expect(await nextDay((await run({ calendars: { holidays: longer } })).scheduler)).toBe('2026-12-27')
  })

  it('are stored anew where they were deleted', async () => {
    const run = program()
    const { scheduler } = await run({ calendars: { holidays: christmas } })
    await scheduler.deleteCalendar('holidays')
    const again = await run({ calendars: { holidays: christmas } })
    expect(await again.scheduler.getCalendar('holidays')).toEqual(christmas)
  })

  it('are stored by the next start when one ended half way', async () => {
    const filename = join(temporaryFolder('calendars'), 'jobs.db')
    const failing = new FaultyJobStore(sqliteJobStore({ filename }))
    failing.failOn({ operation: 'addCalendar' })
    await expect(started(failing, { calendars: { holidays: christmas } })).rejects.toThrow('on purpose')
    const again = new FaultyJobStore(sqliteJobStore({ filename }))
    const { scheduler } = await started(again, { calendars: { holidays: christmas } })
    expect(await scheduler.getCalendar('holidays')).toEqual(christmas)
  })

  it('are refused before one that a database cannot keep is in force', async () => {
    const run = program()
    await run({ calendars: { holidays: christmas } })
    await expect(run({ calendars: { holidays: never } })).rejects.toThrow(/never/)
    const { scheduler, store } = await run({ calendars: { holidays: christmas } })
    expect(store.callsOf('addCalendar')).toBe(0)
    expect(await scheduler.getCalendar('holidays')).toEqual(christmas)
  })
})

describe('calendars of createScheduler', () => {
  it('may be of an own class in memory', async () => {
    const { scheduler } = await started(new FaultyJobStore(new RAMJobStore()), { calendars: { never } })
    expect(await scheduler.getCalendar('never')).toBe(never)
  })

  it.each([
    ['a list', [christmas], /'calendars' must be an object with a field for each entry/],
    ['a calendar', christmas, /'calendars/],
    [
      'a Map',
      new Map([['holidays', christmas]]),
      /'calendars' must be an object with a field for each entry/,
    ],
    ['no calendar', { holidays: {} }, /'calendars.holidays' must be a calendar/],
    ['a blank name', { ' ': christmas }, /'a name in calendars' must be a name of at most 200 characters/],
  ])('are refused by name: %s', async (_what, calendars, message) => {
    const options = { calendars } as unknown as SchedulerOptions
    await expect(createScheduler(options)).rejects.toThrow(message)
  })
})
