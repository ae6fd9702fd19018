import { expect, it, vi } from 'vitest'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

it('keys, expressions and schedules of a second copy of the package make triggers', async () => {
  vi.resetModules()
  const { triggerKey } = await import('../../src/core/key.ts')
  const { CronExpression } = await import('../../src/triggers/cron/cron-expression.ts')
  const ofCopy = await import('../../src/triggers/families/cron/cron-trigger.ts')
  expect(ofCopy.CronScheduleBuilder).not.toBe(CronScheduleBuilder)
  const expression = CronExpression.parse('0 0 7 * * ?', { timeZone: 'UTC' })
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
