import { describe, expect, it } from 'vitest'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { instantOf, nextTexts, previousTexts } from '../support/cron-text.ts'

type Row = readonly [expression: string, after: string, fires: readonly string[]]

const rows: readonly Row[] = [
  ['0 0 0 29 2 ?', '2026-01-01 00:00', ['2028-02-29 00:00', '2032-02-29 00:00', '2036-02-29 00:00']],
  [
    '0 0 0 31 * ?',
    '2026-01-01 00:00',
    [
      '2026-01-31 00:00',
      '2026-03-31 00:00',
      '2026-05-31 00:00',
      '2026-07-31 00:00',
      '2026-08-31 00:00',
      '2026-10-31 00:00',
      '2026-12-31 00:00',
    ],
  ],
  [
    '0 0 0 L * ?',
    '2026-01-01 00:00',
    ['2026-01-31 00:00', '2026-02-28 00:00', '2026-03-31 00:00', '2026-04-30 00:00'],
  ],
  [
    '0 0 0 L-3 * ?',
    '2026-01-30 00:00',
    ['2026-02-25 00:00', '2026-03-28 00:00', '2026-04-27 00:00', '2026-05-28 00:00'],
  ],
  [
    '0 0 0 L-29 * ?',
    '2026-01-05 00:00',
    ['2026-03-02 00:00', '2026-04-01 00:00', '2026-05-02 00:00', '2026-06-01 00:00', '2026-07-02 00:00'],
  ],
  [
    '0 0 0 L-30 * ?',
    '2026-01-05 00:00',
    ['2026-03-01 00:00', '2026-05-01 00:00', '2026-07-01 00:00', '2026-08-01 00:00'],
  ],
  [
    '0 0 0 LW * ?',
    '2026-01-01 00:00',
    [
      '2026-01-30 00:00',
      '2026-02-27 00:00',
      '2026-03-31 00:00',
      '2026-04-30 00:00',
      '2026-05-29 00:00',
      '2026-06-30 00:00',
    ],
  ],
  [
    '0 0 0 1W * ?',
    '2026-01-15 00:00',
    [
      '2026-02-02 00:00',
      '2026-03-02 00:00',
      '2026-04-01 00:00',
      '2026-05-01 00:00',
      '2026-06-01 00:00',
      '2026-07-01 00:00',
      '2026-08-03 00:00',
      '2026-09-01 00:00',
    ],
  ],
  [
    '0 0 0 15W * ?',
    '2026-01-01 00:00',
    [
      '2026-01-15 00:00',
      '2026-02-16 00:00',
      '2026-03-16 00:00',
      '2026-04-15 00:00',
      '2026-05-15 00:00',
      '2026-06-15 00:00',
      '2026-07-15 00:00',
      '2026-08-14 00:00',
    ],
  ],
  [
    '0 0 0 31W * ?',
    '2026-01-01 00:00',
    [
      '2026-01-30 00:00',
      '2026-03-31 00:00',
      '2026-05-29 00:00',
      '2026-07-31 00:00',
      '2026-08-31 00:00',
      '2026-10-30 00:00',
    ],
  ],
  [
    '0 0 0 L-1W * ?',
    '2026-01-01 00:00',
    [
      '2026-01-30 00:00',
      '2026-02-27 00:00',
      '2026-03-30 00:00',
      '2026-04-29 00:00',
      '2026-05-29 00:00',
      '2026-06-29 00:00',
    ],
  ],
  [
    '0 0 12 15W,20 * ?',
    '2026-08-01 00:00',
    [
      '2026-08-14 12:00',
      '2026-08-20 12:00',
      '2026-09-15 12:00',
      '2026-09-20 12:00',
      '2026-10-15 12:00',
      '2026-10-20 12:00',
    ],
  ],
  [
    '0 0 12 1,15W,L * ?',
    '2026-08-01 00:00',
    [
      '2026-08-01 12:00',
      '2026-08-14 12:00',
      '2026-08-31 12:00',
      '2026-09-01 12:00',
      '2026-09-15 12:00',
      '2026-09-30 12:00',
      '2026-10-01 12:00',
      '2026-10-15 12:00',
    ],
  ],
  [
    '0 0 0 2W,16 * ?',
    '2010-09-20 00:00',
    [
      '2010-10-01 00:00',
      '2010-10-16 00:00',
      '2010-11-02 00:00',
      '2010-11-16 00:00',
      '2010-12-02 00:00',
      '2010-12-16 00:00',
    ],
  ],
  ['0 0 12 15W * ?', '2026-08-14 13:00', ['2026-09-15 12:00', '2026-10-15 12:00']],
  ['0 0 12 15W * ?', '2026-08-15 00:00', ['2026-09-15 12:00', '2026-10-15 12:00']],
  [
    '0 0 0 ? * 6L',
    '2026-01-01 00:00',
    ['2026-01-30 00:00', '2026-02-27 00:00', '2026-03-27 00:00', '2026-04-24 00:00'],
  ],
  [
    '0 0 0 ? * MON#5',
    '2026-01-01 00:00',
    ['2026-03-30 00:00', '2026-06-29 00:00', '2026-08-31 00:00', '2026-11-30 00:00'],
  ],
  ['0 0 0 ? * 6#3', '2026-01-16 00:00', ['2026-02-20 00:00', '2026-03-20 00:00', '2026-04-17 00:00']],
  [
    '0 0 0 ? * MON-FRI',
    '2026-01-02 00:00',
    ['2026-01-05 00:00', '2026-01-06 00:00', '2026-01-07 00:00', '2026-01-08 00:00'],
  ],
  [
    '0 0 0 ? * FRI-MON',
    '2026-01-01 00:00',
    [
      '2026-01-02 00:00',
      '2026-01-03 00:00',
      '2026-01-04 00:00',
      '2026-01-05 00:00',
      '2026-01-09 00:00',
      '2026-01-10 00:00',
    ],
  ],
  [
    '0 0 0 ? NOV-FEB MON#1',
    '2026-01-10 00:00',
    ['2026-02-02 00:00', '2026-11-02 00:00', '2026-12-07 00:00', '2027-01-04 00:00'],
  ],
  [
    '0 0 22-2 * * ?',
    '2026-01-01 21:30',
    [
      '2026-01-01 22:00',
      '2026-01-01 23:00',
      '2026-01-02 00:00',
      '2026-01-02 01:00',
      '2026-01-02 02:00',
      '2026-01-02 22:00',
    ],
  ],
  [
    '0 0 0 28-3 * ?',
    '2026-02-20 00:00',
    [
      '2026-02-28 00:00',
      '2026-03-01 00:00',
      '2026-03-02 00:00',
      '2026-03-03 00:00',
      '2026-03-28 00:00',
      '2026-03-29 00:00',
    ],
  ],
  ['0 0 0 1 1 ? 2025', '2026-01-01 00:00', []],
  [
    '0/10 * * * * ?',
    '2026-01-01 00:00:09.999',
    ['2026-01-01 00:00:10', '2026-01-01 00:00:20', '2026-01-01 00:00:30'],
  ],
  ['0/10 * * * * ?', '2026-01-01 00:00:10', ['2026-01-01 00:00:20', '2026-01-01 00:00:30']],
  ['59 59 23 31 12 ?', '2026-12-31 23:59:58', ['2026-12-31 23:59:59', '2027-12-31 23:59:59']],
  ['0 0 0 1 1 ? 2199', '2026-01-01 00:00', ['2199-01-01 00:00']],
  ['0 0 0 29 2 ?', '2096-03-01 00:00', ['2104-02-29 00:00']],
]

function inUtc(texts: readonly string[]): string[] {
  return texts.map((text) => text.replace(' +00:00', ''))
}

describe('next times in UTC', () => {
  it.each(rows)('of %s after %s', (expression, after, fires) => {
    const cron = CronExpression.parse(expression, { timeZone: 'UTC' })
    const found = inUtc(nextTexts(cron, instantOf(after, 'UTC'), Math.max(fires.length, 1)))
    expect(found).toEqual(fires)
    expect(nextTexts(cron.withDst('quartz'), instantOf(after, 'UTC'), Math.max(fires.length, 1))).toEqual(
      nextTexts(cron, instantOf(after, 'UTC'), Math.max(fires.length, 1)),
    )
  })

  it('end with the last year of the expression, and with 2199', () => {
    const cron = CronExpression.parse('0 0 0 1 1 ? 2030-2031', { timeZone: 'UTC' })
    expect(inUtc(nextTexts(cron, 0, 5))).toEqual(['2030-01-01 00:00', '2031-01-01 00:00'])
    const daily = CronExpression.parse('0 0 0 * * ?', { timeZone: 'UTC' })
    expect(inUtc(nextTexts(daily, Date.UTC(2199, 11, 30), 5))).toEqual(['2199-12-31 00:00'])
    expect(daily.nextTimeMs(Date.UTC(2250, 0, 1))).toBeNull()
    expect(daily.nextTimeMs(Number.POSITIVE_INFINITY)).toBeNull()
  })
})

describe('previous times', () => {
  it.each([
    ['0 0 12 * * ?', 'UTC', '2026-01-05 12:00', ['2026-01-04 12:00 +00:00', '2026-01-03 12:00 +00:00']],
    ['0 0 12 * * ?', 'UTC', '2026-01-05 12:00:01', ['2026-01-05 12:00 +00:00', '2026-01-04 12:00 +00:00']],
    ['0 0 0 29 2 ?', 'UTC', '2026-01-05 12:00:01', ['2024-02-29 00:00 +00:00', '2020-02-29 00:00 +00:00']],
    ['0 0 0 1 1 ? 2030', 'UTC', '2026-01-05 12:00:01', []],
    [
      '0 30 1 * * ?',
      'America/New_York',
      '2026-11-02 00:00',
      ['2026-11-01 01:30 -05:00', '2026-10-31 01:30 -04:00', '2026-10-30 01:30 -04:00'],
    ],
    [
      '0 30 2 * * ?',
      'America/New_York',
      '2026-03-09 00:00',
      ['2026-03-07 02:30 -05:00', '2026-03-06 02:30 -05:00', '2026-03-05 02:30 -05:00'],
    ],
    [
      '0/15 * * * * ?',
      'UTC',
      '2026-01-05 12:00:07.500',
      ['2026-01-05 12:00 +00:00', '2026-01-05 11:59:45 +00:00'],
    ],
  ] as const)('of %s in %s before %s under the quartz policy', (expression, timeZone, before, fires) => {
    const cron = CronExpression.parse(expression, { timeZone, dst: 'quartz' })
    expect(previousTexts(cron, instantOf(before, timeZone), Math.max(fires.length, 1))).toEqual(fires)
  })

  it('begin in 1970', () => {
    const cron = CronExpression.parse('0 0 0 * * ?', { timeZone: 'Asia/Tokyo' })
    expect(previousTexts(cron, Date.UTC(1970, 0, 2), 5)).toEqual([
      '1970-01-02 00:00 +09:00',
      '1970-01-01 00:00 +09:00',
    ])
    expect(cron.previousTimeMs(Date.UTC(1950, 0, 1))).toBeNull()
    expect(cron.previousTimeMs(Number.NEGATIVE_INFINITY)).toBeNull()
    expect(cron.nextTimeMs(Date.UTC(1950, 0, 1))).toBe(Date.UTC(1970, 0, 1) - 9 * 3_600_000)
  })
})

describe('isSatisfiedBy', () => {
  it.each([
    ['0 15 10 * * ? 2005', '2005-06-01 10:15', true],
    ['0 15 10 * * ? 2005', '2006-06-01 10:15', false],
    ['0 15 10 * * ? 2005', '2005-06-01 10:16', false],
    ['0 15 10 * * ? 2005', '2005-06-01 10:14', false],
    ['0 15 10 L * ? 2005', '2005-12-31 10:15', true],
    ['0 15 10 L * ? 2005', '2005-02-28 10:15', true],
    ['0 15 10 L * ? 2005', '2005-02-27 10:15', false],
    ['0 15 10 L 2 ? 2004', '2004-02-29 10:15', true],
    ['0 15 10 L 2 ? 2004', '2004-02-28 10:15', false],
    ['0 15 10 L-2 * ? 2005', '2005-12-29 10:15', true],
    ['0 15 10 L-2 * ? 2005', '2005-12-30 10:15', false],
    ['0 15 10 L-3 2 ? 2005', '2005-02-25 10:15', true],
    ['0 15 10 L-3 2 ? 2000', '2000-02-26 10:15', true],
    ['0 15 10 L-5W * ? 2010', '2010-10-26 10:15', true],
    ['0 15 10 L-5W * ? 2010', '2010-09-24 10:15', true],
    ['0 15 10 L-5W * ? 2010', '2010-09-25 10:15', false],
    ['0 15 10 L-1W * ? 2010', '2010-10-29 10:15', true],
    ['0 15 10 1,L * ? 2010', '2010-10-01 10:15', true],
    ['0 15 10 1,L * ? 2010', '2010-10-30 10:15', false],
    ['0 15 10 L-1W,L-1 * ? 2010', '2010-02-26 10:15', true],
    ['0 15 10 L-1W,L-1 * ? 2010', '2010-02-27 10:15', true],
    ['0 15 10 2W,16 * ? 2010', '2010-10-01 10:15', true],
    ['0 15 10 2W,16 * ? 2010', '2010-10-02 10:15', false],
  ])('%s at %s is %s', (expression, at, expected) => {
    const cron = CronExpression.parse(expression, { timeZone: 'UTC' })
    expect(cron.isSatisfiedBy(new Date(instantOf(at, 'UTC')))).toBe(expected)
    expect(cron.withDst('quartz').isSatisfiedBy(new Date(instantOf(at, 'UTC')))).toBe(expected)
  })

  it('takes the whole second', () => {
    const cron = CronExpression.parse('5 * * * * ?', { timeZone: 'UTC' })
    const fireMs = Date.UTC(2026, 0, 1, 0, 0, 5)
    expect(cron.isSatisfiedBy(new Date(fireMs + 999))).toBe(true)
    expect(cron.isSatisfiedBy(new Date(fireMs + 1000))).toBe(false)
    expect(cron.isSatisfiedBy(new Date(fireMs - 1))).toBe(false)
  })
})

describe('getNextInvalidTimeAfter', () => {
  it.each([
    ['0 0 12 * * ?', '2026-01-01 00:00', '2026-01-01 00:00:01'],
    ['0-9 * * * * ?', '2026-01-01 00:00:03', '2026-01-01 00:00:10'],
    ['* 0-29 * * * ?', '2026-01-01 00:10', '2026-01-01 00:30'],
    ['* * 8-17 * * ?', '2026-01-01 08:00', '2026-01-01 18:00'],
    ['* * * ? * MON-FRI', '2026-01-05 08:00', '2026-01-10 00:00'],
    ['* * * * 1-11 ?', '2026-01-05 08:00', '2026-12-01 00:00'],
    ['* * * * * ? 2026', '2026-01-05 08:00', '2027-01-01 00:00'],
  ])('%s after %s', (expression, after, expected) => {
    const cron = CronExpression.parse(expression, { timeZone: 'UTC' })
    const found = cron.getNextInvalidTimeAfter(new Date(instantOf(after, 'UTC')))
    expect(found.toISOString()).toBe(new Date(instantOf(expected, 'UTC')).toISOString())
  })

  it('ends for an expression that always fires, in every zone and policy', () => {
    for (const timeZone of ['UTC', 'America/New_York', 'Africa/Casablanca']) {
      const cron = CronExpression.parse('* * * * * ?', { timeZone })
      expect(cron.getNextInvalidTimeAfter(new Date(Date.UTC(1971, 0, 1))).getUTCFullYear()).toBeGreaterThan(
        2198,
      )
      const java = cron.withDst('quartz').getNextInvalidTimeAfter(new Date(Date.UTC(2026, 9, 30)))
      expect(java.getTime()).toBeLessThan(Date.UTC(2200, 0, 2))
    }
  })

  it('finds the hole that the quartz policy leaves in an overlap', () => {
    const cron = CronExpression.parse('* * * * * ?', { timeZone: 'America/New_York', dst: 'quartz' })
    const found = cron.getNextInvalidTimeAfter(new Date(Date.UTC(2026, 9, 31)))
    expect(found.toISOString()).toBe('2026-11-01T05:00:00.000Z')
  })
})
