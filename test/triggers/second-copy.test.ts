import { expect, it, vi } from 'vitest'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

it('keys, expressions and schedules of a second copy of the package make triggers', async () => {
  vi.resetModules()
  const { triggerKey } = await import('../../src/core/key.ts')
  const { CronExpression: OfCopy } = await import('../../src/triggers/cron/cron-expression.ts')
  const ofCopy = await import('../../src/triggers/families/cron/cron-trigger.ts')
  expect(ofCopy.CronScheduleBuilder).not.toBe(CronScheduleBuilder)
  const expression = OfCopy.parse('0 0 7 * * ?', { timeZone: 'UTC' })
  const own = TriggerBuilder.newTrigger()
    .withIdentity(triggerKey('a', 'b'))
    .withSchedule(CronScheduleBuilder.cronSchedule(expression))
    .build()
  expect(own.key.toString()).toBe('b.a')
  expect(own.computeFirstFireTime(null).nextFireTime?.getUTCHours()).toBe(7)
  const schedule = ofCopy.CronScheduleBuilder.cronSchedule('0 0 8 * * ?').inTimeZone('UTC')
  const theirs = TriggerBuilder.newTrigger().withSchedule(schedule).build()
  expect(theirs.computeFirstFireTime(null).nextFireTime?.getUTCHours()).toBe(8)
})

it('a calendar takes an expression of a copy that has the public members only', () => {
  const own = CronExpression.parse('0/2 * * * * ?', { timeZone: 'Asia/Tokyo', dst: 'vixie' })
  const ofCopy: unknown = {
    timeZone: own.timeZone,
    getTimeAfter: (date: Date) => own.getTimeAfter(date),
    getTimeBefore: (date: Date) => own.getTimeBefore(date),
    isSatisfiedBy: (date: Date) => own.isSatisfiedBy(date),
    toJSON: () => own.toJSON(),
  }
  const calendar = new CronCalendar({ expression: ofCopy as CronExpression })
  expect(calendar.nextIncludedTime(1_790_000_000_000)).toBe(1_790_000_001_000)
  expect(calendar.cronExpression.equals(own)).toBe(true)
})
