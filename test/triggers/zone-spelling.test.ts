import { expect, it } from 'vitest'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { DailyCalendar } from '../../src/triggers/calendars/daily-calendar.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { CronExpression as IntlCronExpression } from '../../src/triggers/cron/intl-cron-expression.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

it('gives schedules and calendars the one spelling of the zone that they are made in', () => {
  const typed = { timeZone: 'aMERICA/nEW_yORK' }
  const schedule = CalendarIntervalScheduleBuilder.calendarIntervalSchedule().inTimeZone(typed.timeZone)
  const made = [
    CronExpression.parse('0 0 12 * * ?', typed),
    CronExpression.parse('0 0 12 * * ?').withTimeZone(typed.timeZone),
    IntlCronExpression.parse('0 0 12 * * ?', typed),
    TriggerBuilder.newTrigger().forJob('job').withSchedule(schedule).build(),
    new DailyCalendar({ rangeStart: '08:00', rangeEnd: '09:00', ...typed }),
    new CronCalendar({ expression: '* * 12 * * ?', ...typed }),
    new CronCalendar({ expression: CronExpression.parse('* * 12 * * ?', typed), ...typed }),
  ]
  expect(made.map(({ timeZone }) => timeZone)).toEqual(made.map(() => 'America/New_York'))
})
