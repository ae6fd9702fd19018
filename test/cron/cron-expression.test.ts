import { describe, expect, it } from 'vitest'
import { InvalidArgumentError } from '../../src/core/errors.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { parseUnixCron } from '../../src/triggers/cron/unix-cron.ts'

describe('CronExpression', () => {
  it('keeps its text in upper case with single spaces', () => {
    const cron = CronExpression.parse(' 0  15\t10 ? * mon-Fri ', { timeZone: 'UTC' })
    expect(cron.expression).toBe('0 15 10 ? * MON-FRI')
    expect(String(cron)).toBe('0 15 10 ? * MON-FRI')
  })

  it('has the zone of the process by default and the vixie policy', () => {
    const cron = CronExpression.parse('0 0 12 * * ?')
    expect(cron.timeZone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone)
    expect(cron.dst).toBe('vixie')
    expect(cron.dialect).toBe('quartz')
  })

  it('depends on the zone of the process in nothing else', () => {
    const before = process.env['TZ']
    const asked = (): (number | null)[] => {
      const cron = CronExpression.parse('0 30 2 L * ?', { timeZone: 'America/New_York' })
      return [0, 1e12, 2e12].flatMap((epochMs) => [cron.nextTimeMs(epochMs), cron.previousTimeMs(epochMs)])
    }
    try {
      const answers = ['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Apia'].map((zone) => {
        process.env['TZ'] = zone
        expect(CronExpression.parse('0 0 12 * * ?').timeZone).toBe(
          zone === 'Asia/Kolkata' ? 'Asia/Calcutta' : zone,
        )
        return asked()
      })
      for (const answer of answers) expect(answer).toEqual(answers[0])
    } finally {
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    }
  })

  it('copies into another zone or policy and leaves itself as it was', () => {
    const cron = CronExpression.parse('0 0 12 * * ?', { timeZone: 'UTC' })
    const tokyo = cron.withTimeZone('Asia/Tokyo')
    expect([tokyo.timeZone, tokyo.dst, tokyo.expression]).toEqual(['Asia/Tokyo', 'vixie', '0 0 12 * * ?'])
    expect(tokyo.getTimeAfter(new Date(0))?.toISOString()).toBe('1970-01-01T03:00:00.000Z')
    expect(cron.withDst('quartz').dst).toBe('quartz')
    expect([cron.timeZone, cron.dst]).toEqual(['UTC', 'vixie'])
    expect(cron.equals(CronExpression.parse('0 0 12 * * ?', { timeZone: 'UTC' }))).toBe(true)
    expect(cron.equals(tokyo)).toBe(false)
  })

  it('refuses unknown zones and policies', () => {
    expect(() => CronExpression.parse('0 0 12 * * ?', { timeZone: 'Mars/Base' })).toThrow(/Unknown time zone/)
    expect(() => CronExpression.parse('0 0 12 * * ?', { dst: 'java' as 'quartz' })).toThrow(
      InvalidArgumentError,
    )
    const cron = CronExpression.parse('0 0 12 * * ?', { timeZone: 'UTC' })
    expect(() => cron.withTimeZone('')).toThrow(InvalidArgumentError)
    expect(() => cron.withDst('java' as 'quartz')).toThrow(/'vixie' or 'quartz'/)
    expect(() => cron.nextTimeMs(Number.NaN)).toThrow(InvalidArgumentError)
    expect(() => cron.getTimeAfter(new Date('nonsense'))).toThrow(InvalidArgumentError)
  })

  it('becomes JSON that makes it again', () => {
    const cron = CronExpression.parse('0 0 12 ? * MON', { timeZone: 'Europe/Paris', dst: 'quartz' })
    expect(JSON.parse(JSON.stringify(cron))).toEqual({
      expression: '0 0 12 ? * MON',
      timeZone: 'Europe/Paris',
      dst: 'quartz',
      dialect: 'quartz',
      seconds: 'never',
    })
  })
})

describe('describe', () => {
  it.each([
    ['0 0 12 * * ?', 'At 12:00'],
    ['0 15 10 ? * 6L', 'At 10:15, on the last Friday of the month'],
    ['0 15 10 ? * FRIDAYL', 'At 10:15, on the last Friday of the month'],
    ['0 15 10 ? * 6#3', 'At 10:15, on the third Friday of the month'],
    ['0 0 0 ? * L', 'At 00:00, only on Saturday'],
    ['0 0 0 ? * MONDAY-6', 'At 00:00, Monday through Friday'],
    ['0 0 0 1 JANUARY ?', 'At 00:00, on day 1 of the month, only in January'],
    ['0 0 0 LW * ?', 'At 00:00, on the last weekday of the month'],
    ['0 0 0 L-3 * ?', 'At 00:00, 3 days before the last day of the month'],
    ['/5 * * * * ?', 'Every 5 seconds'],
    ['0 0 0 15W,L,1 * ?', 'At 00:00, on the weekday nearest day 15, the last day and day 1 of the month'],
    ['0 0 0 L-3W * ?', 'At 00:00, on the weekday nearest to 3 days before the last day of the month'],
    ['0 0 0 LW,1-5 * ?', 'At 00:00, on the last weekday and days 1-5 of the month'],
    ['0 0 0 ? *,DEC FRI', 'At 00:00, only on Friday'],
    ['0 *,5 *,*/5 ? * *,MON *,2030', 'Every minute'],
    ['0 0 0 15W,* 3,/1 ?', 'At 00:00'],
    ['0 0 12 1,L-2 * ?', 'At 12:00, on day 1 and 2 days before the last day of the month'],
    ['0 0 12 L-3,L,01 * ?', 'At 12:00, on 3 days before the last day, the last day and day 1 of the month'],
    ['0 0 12 1/5,L * ?', 'At 12:00, on days 1-31 in steps of 5 and the last day of the month'],
    ['0 0 12 L-1 * ?', 'At 12:00, on 1 day before the last day of the month'],
    ['0 0 12 L-0 * ?', 'At 12:00, on the last day of the month'],
    [
      '0 0 12 1 1 ? 2030/2',
      'At 12:00, on day 1 of the month, only in January, every 2 years, 2030 through 2199',
    ],
  ])('%s reads "%s"', (expression, words) => {
    expect(CronExpression.parse(expression, { timeZone: 'UTC' }).describe()).toBe(words)
  })

  it.each([
    ['0 0 * * 1', 'At 00:00, only on Monday'],
    ['*/5 * * * *', 'Every 5 minutes'],
    ['@hourly', 'Every hour'],
    ['0 0 13 * 5', 'At 00:00, on day 13 of the month, or on Friday'],
    ['0 0 13 * MON-FRI', 'At 00:00, on day 13 of the month, or Monday through Friday'],
    ['0 0 */2 * MON', 'At 00:00, every 2 days in a month, but only on Monday'],
    ['30 0 0 13 * FRIL', 'At 00:00:30, on day 13 of the month, or on the last Friday of the month'],
    ['0 0 * * 5L', 'At 00:00, on the last Friday of the month'],
    ['0 0 * * fril', 'At 00:00, on the last Friday of the month'],
    ['0 0 * * 1,5L', 'At 00:00, only on Monday and on the last Friday of the month'],
    ['0 0 * * 5#3', 'At 00:00, on the third Friday of the month'],
    ['0 0 L * *', 'At 00:00, on the last day of the month'],
    ['0 0 * jan sun', 'At 00:00, only on Sunday, only in January'],
  ])('%s of the Unix dialect reads "%s"', (expression, words) => {
    expect(parseUnixCron(expression, { timeZone: 'UTC', seconds: 'optional' }).describe()).toBe(words)
  })
})
