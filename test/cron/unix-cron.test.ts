import { describe, expect, it } from 'vitest'
import { CronExpressionError } from '../../src/core/errors.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { parseUnixCron } from '../../src/triggers/cron/unix-cron.ts'
import { instantOf, nextTexts, previousTexts } from '../support/cron-text.ts'

type Row = readonly [text: string, after: string, fires: readonly string[]]

function inUtc(texts: readonly string[]): string[] {
  return texts.map((text) => text.replace(' +00:00', ''))
}

function refusal(text: string): CronExpressionError {
  try {
    parseUnixCron(text, { timeZone: 'UTC' })
  } catch (error) {
    if (error instanceof CronExpressionError) return error
    throw error
  }
  return expect.fail(`'${text}' was accepted`)
}

/** 1 January 2026 is a Thursday. */
const rows: readonly Row[] = [
  ['*/5 * * * *', '2026-01-01 00:01', ['2026-01-01 00:05', '2026-01-01 00:10']],
  ['30 4 * * *', '2026-01-01 00:00', ['2026-01-01 04:30', '2026-01-02 04:30']],
  ['0 22 * * 1-5', '2026-01-01 00:00', ['2026-01-01 22:00', '2026-01-02 22:00', '2026-01-05 22:00']],
  ['0 0 * * 0', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  ['0 0 * * 7', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  ['0 0 * * sun', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  [
    '0 0 * * 5-7',
    '2026-01-01 00:00',
    ['2026-01-02 00:00', '2026-01-03 00:00', '2026-01-04 00:00', '2026-01-09 00:00'],
  ],
  ['0 0 * * FRI,Mon', '2026-01-01 00:00', ['2026-01-02 00:00', '2026-01-05 00:00']],
  ['0 12 * jan,JUL mon', '2026-01-27 00:00', ['2026-07-06 12:00', '2026-07-13 12:00']],
  ['23 0-23/2 * * *', '2026-01-01 00:00', ['2026-01-01 00:23', '2026-01-01 02:23']],
  ['0 0 L * *', '2026-02-01 00:00', ['2026-02-28 00:00', '2026-03-31 00:00']],
  ['0 0 * * 5L', '2026-01-01 00:00', ['2026-01-30 00:00', '2026-02-27 00:00']],
  ['0 0 * * 1#2', '2026-01-01 00:00', ['2026-01-12 00:00', '2026-02-09 00:00']],
  // Crontab files name values twice in a list; 0 and 7 are one day.
  ['0-2,1,*/30 4 * * *', '2026-01-01 04:00', ['2026-01-01 04:01', '2026-01-01 04:02', '2026-01-01 04:30']],
  ['0 0 * * 0,7', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  [
    '0 0 * * 5-7,0-1',
    '2026-01-01 00:00',
    ['2026-01-02 00:00', '2026-01-03 00:00', '2026-01-04 00:00', '2026-01-05 00:00', '2026-01-09 00:00'],
  ],
  [
    '0 0 L,28-31,L 2 *',
    '2026-01-01 00:00',
    ['2026-02-28 00:00', '2027-02-28 00:00', '2028-02-28 00:00', '2028-02-29 00:00'],
  ],
  ['0 0 * * 5L,FRIL,7L', '2026-01-01 00:00', ['2026-01-25 00:00', '2026-01-30 00:00', '2026-02-22 00:00']],
  ['0 0 29 2 *', '2026-01-01 00:00', ['2028-02-29 00:00', '2032-02-29 00:00']],
  // Two restricting day fields: one is enough.
  [
    '0 0 13 * 5',
    '2026-02-01 00:00',
    [
      '2026-02-06 00:00',
      '2026-02-13 00:00',
      '2026-02-20 00:00',
      '2026-02-27 00:00',
      '2026-03-06 00:00',
      '2026-03-13 00:00',
    ],
  ],
  ['30 4 1,15 * 5', '2026-01-02 12:00', ['2026-01-09 04:30', '2026-01-15 04:30', '2026-01-16 04:30']],
  ['0 0 30 2 1', '2026-01-01 00:00', ['2026-02-02 00:00', '2026-02-09 00:00']],
  // A field that begins with a star does not restrict in that sense: both must hold.
  ['0 0 */2 * 1', '2026-01-01 00:00', ['2026-01-05 00:00', '2026-01-19 00:00', '2026-02-09 00:00']],
  ['0 0 1-7 * */7', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-02-01 00:00']],
  // Macros.
  ['@yearly', '2026-01-01 00:00', ['2027-01-01 00:00']],
  ['@annually', '2026-01-01 00:00', ['2027-01-01 00:00']],
  ['@monthly', '2026-01-01 00:00', ['2026-02-01 00:00']],
  ['@weekly', '2026-01-01 00:00', ['2026-01-04 00:00']],
  ['@daily', '2026-01-01 00:00', ['2026-01-02 00:00']],
  ['@midnight', '2026-01-01 00:00', ['2026-01-02 00:00']],
  ['@Hourly', '2026-01-01 00:00', ['2026-01-01 01:00', '2026-01-01 02:00']],
]

describe('unix expressions', () => {
  it.each(rows)('%s after %s', (text, after, fires) => {
    const cron = parseUnixCron(text, { timeZone: 'UTC' })
    expect(cron.dialect).toBe('unix')
    expect(inUtc(nextTexts(cron, instantOf(after, 'UTC'), fires.length))).toEqual(fires)
  })

  it.each(rows)('%s backwards', (text, _, fires) => {
    const cron = parseUnixCron(text, { timeZone: 'UTC' })
    const lastMs = instantOf(fires.at(-1) ?? '', 'UTC')
    expect(inUtc(previousTexts(cron, lastMs, fires.length - 1))).toEqual(fires.slice(0, -1).toReversed())
  })

  it('take a leading field for seconds when that is allowed', () => {
    const cron = parseUnixCron('*/20 * * * * *', { timeZone: 'UTC', seconds: 'optional' })
    expect(inUtc(nextTexts(cron, 0, 2))).toEqual(['1970-01-01 00:00:20', '1970-01-01 00:00:40'])
    const five = parseUnixCron('1 * * * *', { timeZone: 'UTC', seconds: 'optional' })
    expect(inUtc(nextTexts(five, 0, 1))).toEqual(['1970-01-01 00:01'])
  })

  it('follow the DST policy like any other', () => {
    const afterMs = instantOf('2026-03-07 12:00', 'America/New_York')
    const daily = parseUnixCron('30 2 * * *', { timeZone: 'America/New_York' })
    expect(nextTexts(daily, afterMs, 1)).toEqual(['2026-03-08 03:00 -04:00'])
    expect(nextTexts(daily.withDst('quartz'), afterMs, 1)).toEqual(['2026-03-09 02:30 -04:00'])
    const rhythm = parseUnixCron('*/30 2 * * *', { timeZone: 'America/New_York' })
    expect(nextTexts(rhythm, afterMs, 1)).toEqual(['2026-03-09 02:00 -04:00'])
    const macro = parseUnixCron('@daily', { timeZone: 'Asia/Beirut' })
    expect(nextTexts(macro, instantOf('2026-03-28 12:00', 'Asia/Beirut'), 1)).toEqual([
      '2026-03-29 01:00 +03:00',
    ])
  })

  it('read back from their own JSON', () => {
    for (const text of ['*/5 * * * *', '@daily', '10 0 0 1 1 *']) {
      const cron = parseUnixCron(text, { timeZone: 'Europe/Paris', seconds: 'optional' })
      const json = cron.toJSON()
      expect(CronExpression.parse(json.expression, json).equals(cron)).toBe(true)
    }
  })

  it('have a summary with 1=SUN like every other expression', () => {
    expect(parseUnixCron('0 0 13 * 5', { timeZone: 'UTC' }).summary()).toMatchObject({
      seconds: [0],
      daysOfMonth: [13],
      daysOfWeek: [6],
      dayFields: 'or',
    })
    expect(parseUnixCron('* * * * *', { timeZone: 'UTC' }).summary()).toMatchObject({
      minutes: '*',
      daysOfMonth: '*',
      daysOfWeek: '*',
      dayFields: 'and',
    })
  })
})

describe('refused unix expressions', () => {
  it.each([
    ['', 'minute', 0, null],
    ['* * * *', 'dayOfWeek', 7, null],
    ['* * * * * *', 'dayOfWeek', 10, "seconds: 'optional'"],
    ['0 0 12 * * ?', 'dayOfWeek', 11, "dialect: 'quartz'"],
    ['0 0 12 * * ? 2030', 'dayOfWeek', 11, 'which has years'],
    ['60 * * * *', 'minute', 0, null],
    ['* 24 * * *', 'hour', 2, null],
    ['* * 0 * *', 'dayOfMonth', 4, null],
    ['* * 32 * *', 'dayOfMonth', 4, null],
    ['* * * 13 *', 'month', 6, null],
    ['* * * * 8', 'dayOfWeek', 8, null],
    ['*/0 * * * *', 'minute', 0, null],
    ['*/90 * * * *', 'minute', 0, null],
    ['5,*/60 * * * *', 'minute', 2, null],
    ['22-2 * * * *', 'minute', 0, null],
    ['H * * * *', 'minute', 0, null],
    ['? * * * *', 'minute', 0, "'*'"],
    ['1JAN * * * *', 'minute', 0, null],
    ['* * * 1jan *', 'month', 6, null],
    ['* * * FOO *', 'month', 6, null],
    ['* * MON * *', 'dayOfMonth', 4, null],
    ['1,,2 * * * *', 'minute', 2, null],
    ['1-2-3 * * * *', 'minute', 0, null],
    ['0 0 30 2 *', 'dayOfMonth', 4, 'Name a day'],
    ['0 7 * * Monday,wed', 'dayOfWeek', 8, "'MON,WED'"],
    ['@every 5m', 'minute', 0, '@daily'],
    ['@every 5m', 'minute', 0, "'*/5 * * * *'"],
    ['@fortnightly', 'minute', 0, '@daily'],
    ['@daily 5', 'minute', 0, '@daily'],
    ['@reboot', 'minute', 0, 'program starts'],
    ['9'.repeat(100_000), 'second', 0, 'ranges and steps'],
  ])('%.30s is wrong in %s at %i', (text, field, position, hint) => {
    const error = refusal(text)
    expect({ field: error.field, position: error.position }).toEqual({ field, position })
    expect(CronExpression.isValid(text, { dialect: 'unix' })).toBe(false)
    if (hint !== null) expect(error.suggestion).toContain(hint)
  })
})
