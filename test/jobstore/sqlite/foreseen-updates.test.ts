import Database from 'better-sqlite3'
import {
  type Calendar,
  createScheduler,
  defineJob,
  HolidayCalendar,
  JobBuilder,
  type Trigger,
} from 'quartz-ts'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { ManualClock } from 'quartz-ts/testing'
import { expect, test } from 'vitest'
import { SimpleScheduleBuilder } from '../../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'

const hour = 3_600_000
const holidays = 'holidays'
/** One more than are looked at together. */
const triggerCount = 1001

/** A clock by which each question to a {@link slowCalendar} takes a millisecond. */
class SlowClock extends ManualClock {
  questions = 0

  override elapsedMs(): number {
    return super.elapsedMs() + this.questions
  }
}

function slowCalendar(onQuestion: () => void): Calendar {
  const holidays = new HolidayCalendar({ excludedDates: ['2026-01-02'], timeZone: 'UTC' })
  const { type, description, baseCalendar } = holidays
  return {
    type,
    description,
    baseCalendar,
    isTimeIncluded: (timeMs) => {
      onQuestion()
      return holidays.isTimeIncluded(timeMs)
    },
    nextIncludedTime: (timeMs) => holidays.nextIncludedTime(timeMs),
    toJSON: () => holidays.toJSON(),
  }
}

function triggers(clock: ManualClock): Trigger[] {
  return Array.from({ length: triggerCount }, (_, index) =>
    TriggerBuilder.newTrigger()
      .withIdentity(`t${index}`)
      .forJob('work')
      .modifiedByCalendar(holidays)
      .startAt(new Date(clock.now() + 24 * hour + index))
      .withSchedule(SimpleScheduleBuilder.repeatHourlyForever())
      .build(),
  )
}

test.each(['addCalendar', 'changeDefinitions'] as const)(
  '%s asks a calendar outside of the transaction when its triggers fire next',
  async (method) => {
    const database = new Database(':memory:')
    const clock = new SlowClock(new Date(Date.UTC(2026, 0, 1)))
    const asked = { outside: 0, inside: 0 }
    const calendar = slowCalendar(() => {
      clock.questions++
      asked[database.inTransaction ? 'inside' : 'outside']++
    })
    const work = defineJob('work', () => {})
    const jobStore = sqliteJobStore({ database })
    await using scheduler = await createScheduler({ jobs: [work], jobStore, clock, logger: false })
    const empty = new HolidayCalendar({ excludedDates: [], timeZone: 'UTC' })
    await scheduler.addCalendar(holidays, empty)
    await scheduler.addJob(JobBuilder.newJob('work').withIdentity('work').storeDurably().build())
    await scheduler.changeDefinitions({ entries: [{ job: null, triggers: triggers(clock) }] })
    if (method === 'changeDefinitions')
      await scheduler.changeDefinitions({ calendars: [{ name: holidays, calendar }] })
    else await scheduler.addCalendar(holidays, calendar, { replace: true, updateTriggers: true })
    expect(asked.inside).toBe(0)
    expect(asked.outside).toBeGreaterThanOrEqual(triggerCount)
    const { items } = await scheduler.queryTriggers({ take: 1 })
    expect(items[0]?.nextFireTimeMs).toBe(Date.UTC(2026, 0, 3))
    database.close()
  },
)
