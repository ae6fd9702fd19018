import { describe, expect, test } from 'vitest'
import { inQuartzDialect } from '../../src/annotations/cluster/quartz-cron.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'

const spring = (text: string): CronExpression =>
  CronExpression.parse(text, { dialect: 'spring', timeZone: 'Europe/Paris', dst: 'vixie' })

describe('an expression of Spring as it is stored for Quartz', () => {
  test.each([
    ['@daily', '0 0 0 * * ?'],
    ['@weekly', '0 0 0 ? * SUN'],
    ['0 */5 8-18 * * *', '0 */5 8-18 * * ?'],
    ['0 0 7 ? * ?', '0 0 7 * * ?'],
    ['0 0 7 1,15 * ?', '0 0 7 1,15 * ?'],
    ['0 0 7 L-3 * *', '0 0 7 L-3 * ?'],
    ['0 0 7 15W JAN-MAR *', '0 0 7 15W JAN-MAR ?'],
    ['0 0 7 * * 1-5', '0 0 7 ? * MON-FRI'],
    ['0 0 7 * * 0,6', '0 0 7 ? * SUN,SAT'],
    ['0 0 7 * * SAT-SUN', '0 0 7 ? * SUN,SAT'],
    ['0 0 7 * * */2', '0 0 7 ? * SUN,MON,WED,FRI'],
    ['0 0 7 * * MON,*', '0 0 7 ? * *'],
    ['0 0 7 ? * 5L', '0 0 7 ? * 6L'],
    ['0 0 7 * * SUN#2', '0 0 7 ? * 1#2'],
  ])('%s is %s, with the same times', (text, quartz) => {
    const before = spring(text)
    const after = inQuartzDialect(before)
    expect(after.toJSON()).toEqual({ ...before.toJSON(), dialect: 'quartz', expression: quartz })
    let atMs = Date.UTC(2026, 0, 1)
    for (let fire = 0; fire < 50; fire++) {
      const nextMs = before.nextTimeMs(atMs) ?? expect.fail('no next time')
      expect(after.nextTimeMs(atMs)).toBe(nextMs)
      atMs = nextMs
    }
  })

  test.each([
    '0 0 7 13 * FRI',
    '0 0 7 1,L * *',
    '0 0 7 1W,15W * *',
    '0 0 7 * * MON#1,MON#3',
    '0 0 7 * * MON,5L',
  ])('%s stays as it is, because Java cannot say it', (text) => {
    const cron = spring(text)
    expect(inQuartzDialect(cron)).toBe(cron)
  })
})
