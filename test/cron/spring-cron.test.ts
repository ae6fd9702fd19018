import { describe, expect, it } from 'vitest'
import { CronExpressionError } from '../../src/core/errors.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import type { CronOptions } from '../../src/triggers/cron/cron-reader.ts'
import { instantOf, nextTexts, previousTexts } from '../support/cron-text.ts'

type Row = readonly [text: string, after: string, fires: readonly string[]]

const spring = (text: string, options: CronOptions = { timeZone: 'UTC' }): CronExpression =>
  CronExpression.parse(text, { ...options, dialect: 'spring' })

const inUtc = (texts: readonly string[]): string[] => texts.map((text) => text.replace(' +00:00', ''))

function refusal(text: string): CronExpressionError {
  try {
    spring(text)
  } catch (error) {
    if (error instanceof CronExpressionError) return error
    throw error
  }
  return expect.fail(`'${text}' was accepted`)
}

/** What Spring's CronExpression says. 1 January 2026 is a Thursday. */
const rows: readonly Row[] = [
  ['* * * * * *', '2026-01-01 00:00', ['2026-01-01 00:00:01', '2026-01-01 00:00:02']],
  ['*/10 * * * * *', '2026-01-01 00:00:05', ['2026-01-01 00:00:10', '2026-01-01 00:00:20']],
  ['0 0 8-10 * * *', '2026-01-01 09:30', ['2026-01-01 10:00', '2026-01-02 08:00']],
  ['0 0/30 8-9 * * *', '2026-01-01 08:10', ['2026-01-01 08:30', '2026-01-01 09:00', '2026-01-01 09:30']],
  ['0 0 9-17 * * MON-FRI', '2026-01-02 16:30', ['2026-01-02 17:00', '2026-01-05 09:00']],
  ['0 0 0 25 12 ?', '2026-01-01 00:00', ['2026-12-25 00:00', '2027-12-25 00:00']],
  ['3-57 13-28 17,18 1,15 3-12 6#1', '2022-09-15 17:44:11', ['2022-10-01 17:13:03']],
  ['*/28 56 22 */6 * *', '2022-02-27 08:00:42', ['2022-03-01 22:56', '2022-03-01 22:56:28']],
  // Days of the week: Sunday is 0 and 7, Monday is 1.
  ['0 0 0 * * 0', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  ['0 0 0 * * 7', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  ['0 0 0 * * sun', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  ['0 0 0 ? * 1', '2026-01-01 00:00', ['2026-01-05 00:00', '2026-01-12 00:00']],
  ['0 0 0 ? * SUN-TUE', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-05 00:00', '2026-01-06 00:00']],
  ['0 0 0 ? * SAT-SUN', '2026-01-01 00:00', ['2026-01-03 00:00', '2026-01-04 00:00', '2026-01-10 00:00']],
  ['0 0 0 ? * 7-1', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-05 00:00', '2026-01-11 00:00']],
  ['0 0 0 ? * */3', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-05 00:00', '2026-01-08 00:00']],
  ['0 0 0 ? * 0/3', '2026-01-01 00:00', ['2026-01-03 00:00', '2026-01-04 00:00', '2026-01-07 00:00']],
  // L, W and #.
  ['0 0 0 L * *', '2026-02-01 00:00', ['2026-02-28 00:00', '2026-03-31 00:00']],
  ['0 0 0 L-3 * *', '2026-02-01 00:00', ['2026-02-25 00:00', '2026-03-28 00:00']],
  ['0 0 0 1W * *', '2021-04-01 00:00', ['2021-05-03 00:00', '2021-06-01 00:00']],
  ['0 0 0 15W * *', '2021-05-01 00:00', ['2021-05-14 00:00', '2021-06-15 00:00']],
  ['0 0 0 31W * *', '2026-01-31 00:00', ['2026-03-31 00:00', '2026-05-29 00:00']],
  ['0 0 0 LW * *', '2026-01-01 00:00', ['2026-01-30 00:00', '2026-02-27 00:00']],
  ['0 0 0 1,L * *', '2026-01-02 00:00', ['2026-01-31 00:00', '2026-02-01 00:00']],
  ['0 0 0 * * 5L', '2026-01-01 00:00', ['2026-01-30 00:00', '2026-02-27 00:00']],
  ['0 0 0 * * THUL', '2026-01-01 00:00', ['2026-01-29 00:00', '2026-02-26 00:00']],
  ['0 0 0 ? * 5#2', '2026-01-01 00:00', ['2026-01-09 00:00', '2026-02-13 00:00']],
  ['0 0 0 ? * MON#1', '2026-01-01 00:00', ['2026-01-05 00:00', '2026-02-02 00:00']],
  ['0 0 0 ? * FRI#5', '2026-01-01 00:00', ['2026-01-30 00:00', '2026-05-29 00:00']],
  ['0 0 0 ? * 0#1', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-02-01 00:00']],
  ['0 0 0 ? * MON#1,MON#3', '2026-01-01 00:00', ['2026-01-05 00:00', '2026-01-19 00:00', '2026-02-02 00:00']],
  // A day must match both day fields, where Unix cron takes either.
  ['0 0 0 13 * FRI', '2018-01-01 00:00', ['2018-04-13 00:00', '2018-07-13 00:00', '2019-09-13 00:00']],
  ['0 0 0 1-7 * MON', '2026-01-01 00:00', ['2026-01-05 00:00', '2026-02-02 00:00']],
  ['0 0 0 L * FRI', '2026-01-01 00:00', ['2026-07-31 00:00', '2027-04-30 00:00']],
  ['0 0 0 ? * ?', '2026-01-01 00:00', ['2026-01-02 00:00', '2026-01-03 00:00']],
  // Macros.
  ['@yearly', '2026-01-01 00:00', ['2027-01-01 00:00']],
  ['@annually', '2026-01-01 00:00', ['2027-01-01 00:00']],
  ['@monthly', '2026-01-01 00:00', ['2026-02-01 00:00']],
  ['@weekly', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  ['@daily', '2026-01-01 00:00', ['2026-01-02 00:00']],
  ['@midnight', '2026-01-01 00:00', ['2026-01-02 00:00']],
  ['@Hourly', '2026-01-01 00:00', ['2026-01-01 01:00', '2026-01-01 02:00']],
]

describe('S15: expressions in the dialect of Spring', () => {
  it.each(rows)('%s after %s', (text, after, fires) => {
    const cron = spring(text)
    expect(cron.dialect).toBe('spring')
    expect(inUtc(nextTexts(cron, instantOf(after, 'UTC'), fires.length))).toEqual(fires)
  })

  it.each(rows)('%s backwards', (text, _, fires) => {
    const lastMs = instantOf(fires.at(-1) ?? '', 'UTC')
    const earlier = inUtc(previousTexts(spring(text), lastMs, fires.length - 1))
    expect(earlier).toEqual(fires.slice(0, -1).toReversed())
  })

  it('keep a time in a gap by default, and skip it as Spring does under the policy of Java', () => {
    const daily = spring('0 10 2 * * *', { timeZone: 'Europe/Amsterdam' })
    const afterMs = instantOf('2013-03-31 01:09', 'Europe/Amsterdam')
    expect(nextTexts(daily, afterMs, 1)).toEqual(['2013-03-31 03:00 +02:00'])
    expect(nextTexts(daily.withDst('quartz'), afterMs, 1)).toEqual(['2013-04-01 02:10 +02:00'])
  })

  it('read back from their own JSON', () => {
    for (const text of ['*/5 * * * * *', '@daily', '0 0 0 13 * FRI#2,2L']) {
      const cron = spring(text, { timeZone: 'Europe/Paris' })
      const json = cron.toJSON()
      expect(json.dialect).toBe('spring')
      expect(CronExpression.parse(json.expression, json).equals(cron)).toBe(true)
    }
  })

  it.each([
    ['0 0 12 * * 1-5', 'At 12:00, Monday through Friday'],
    ['@daily', 'At 00:00'],
    ['0 0 0 ? * 7', 'At 00:00, only on Sunday'],
    ['0 0 0 13 * FRI', 'At 00:00, on day 13 of the month, but only on Friday'],
    [
      '0 0 0 1,L-2 1 MON-FRI',
      'At 00:00, only in January, on day 1 and 2 days before the last day of the month, but only Monday through Friday',
    ],
    ['0 0 0 LW * *', 'At 00:00, on the last weekday of the month'],
    ['0 0 0 * * FRIL', 'At 00:00, on the last Friday of the month'],
  ])('%s in words', (text, words) => {
    expect(spring(text).describe()).toBe(words)
  })

  it('have a summary with 1=SUN like every other expression', () => {
    expect(spring('0 0 0 13 * 0,FRI,5L,1#2').summary()).toMatchObject({
      daysOfMonth: [13],
      daysOfWeek: [1, 6],
      lastDaysOfWeek: [6],
      nthDaysOfWeek: [{ day: 2, nth: 2 }],
      dayFields: 'and',
    })
  })
})

describe('S15: refused expressions in the dialect of Spring', () => {
  it.each([
    ['', 'second', 0, null],
    ['* * * * *', 'dayOfWeek', 9, '0 for a five-field'],
    ['* * * * * * 2026', 'dayOfWeek', 12, 'no year'],
    ['60 * * * * *', 'second', 0, null],
    ['* * 24 * * *', 'hour', 4, 'hour 0'],
    ['* * * 0 * *', 'dayOfMonth', 6, null],
    ['* * * * 13 *', 'month', 8, null],
    ['* * * * * 8', 'dayOfWeek', 10, null],
    ['*/0 * * * * *', 'second', 2, null],
    ['* * 22-2 * * *', 'hour', 4, '22-23,0-2'],
    ['* * * * * FRI-MON', 'dayOfWeek', 10, '5-7,0-1'],
    ['* * ? * * *', 'hour', 4, null],
    ['* * * * * L', 'dayOfWeek', 10, 'SAT'],
    ['* * * * * MON,L', 'dayOfWeek', 14, null],
    ['* * * W * *', 'dayOfMonth', 6, null],
    ['* * * * * MON#6', 'dayOfWeek', 14, null],
    ['* * * * FOO *', 'month', 8, null],
    ['* * * * FOO 9', 'month', 8, null],
    ['0 0 0 30 2 *', 'dayOfMonth', 6, null],
    ['0 0 0 1 * MON#2', 'dayOfMonth', 6, null],
    ['@reboot', 'second', 0, '@daily'],
    ['@daily 5', 'second', 0, '@daily'],
    ['9'.repeat(100_000), 'second', 0, 'ranges and steps'],
  ])('%.30s is wrong in %s at %i', (text, field, position, hint) => {
    const error = refusal(text)
    expect({ field: error.field, position: error.position }).toEqual({ field, position })
    expect(CronExpression.isValid(text, { dialect: 'spring' })).toBe(false)
    if (hint !== null) expect(error.suggestion).toContain(hint)
  })

  it('name the dialects that there are', () => {
    expect(() => CronExpression.parse('* * * * * *', { dialect: 'sprung' as 'spring' })).toThrow(
      "dialect must be 'quartz', 'unix' or 'spring', got 'sprung'",
    )
  })
})
