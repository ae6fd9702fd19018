import { describe, expect, it } from 'vitest'
import { CronExpressionError } from '../../src/core/errors.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import type { CronFieldSummary, CronSummary } from '../../src/triggers/cron/cron-summary.ts'

const zone = { timeZone: 'UTC' }

function listed(field: CronFieldSummary): readonly number[] {
  return typeof field === 'string' ? [] : field
}

/** One line per expression: only what restricts, in the dialect's own letters. */
function shown(summary: CronSummary): string {
  const days = [
    ...listed(summary.daysOfMonth),
    ...summary.lastDayOffsets.map((offset) => (offset === 0 ? 'L' : `L-${offset}`)),
    ...summary.nearestWeekdays.map((day) => `${day}W`),
    ...summary.nearestWeekdayOffsets.map((offset) => (offset === 0 ? 'LW' : `L-${offset}W`)),
  ]
  const weekdays = [
    ...listed(summary.daysOfWeek),
    ...summary.lastDaysOfWeek.map((day) => `${day}L`),
    ...summary.nthDaysOfWeek.map(({ day, nth }) => `${day}#${nth}`),
  ]
  const parts = [
    `s=${String(summary.seconds)}`,
    `m=${String(summary.minutes)}`,
    `h=${String(summary.hours)}`,
    `dom=${typeof summary.daysOfMonth === 'string' ? summary.daysOfMonth : days.join(',')}`,
    `mon=${String(summary.months)}`,
    `dow=${typeof summary.daysOfWeek === 'string' ? summary.daysOfWeek : weekdays.join(',')}`,
  ]
  return [...parts, ...(summary.years === '*' ? [] : [`y=${String(summary.years)}`])].join(' ')
}

function refusal(expression: string): CronExpressionError {
  try {
    CronExpression.parse(expression, zone)
  } catch (error) {
    if (error instanceof CronExpressionError) return error
    throw error
  }
  return expect.fail(`'${expression}' was accepted`)
}

function range(from: number, to: number, step = 1): string {
  const values: number[] = []
  for (let value = from; value <= to; value += step) values.push(value)
  return values.join(',')
}

const accepted: readonly (readonly [string, string])[] = [
  ['0 0 12 * * ?', 's=0 m=0 h=12 dom=* mon=* dow=?'],
  ['0 15 10 ? * *', 's=0 m=15 h=10 dom=? mon=* dow=*'],
  ['0 0/5 14,18 * * ?', `s=0 m=${range(0, 55, 5)} h=14,18 dom=* mon=* dow=?`],
  ['0 10,44 14 ? 3 WED', 's=0 m=10,44 h=14 dom=? mon=3 dow=4'],
  ['0 15 10 ? * MON-FRI', 's=0 m=15 h=10 dom=? mon=* dow=2,3,4,5,6'],
  ['0 15 10 L * ?', 's=0 m=15 h=10 dom=L mon=* dow=?'],
  ['0 15 10 L-2 * ?', 's=0 m=15 h=10 dom=L-2 mon=* dow=?'],
  ['0 15 10 ? * 6L', 's=0 m=15 h=10 dom=? mon=* dow=6L'],
  ['0 15 10 ? * 6L 2002-2005', 's=0 m=15 h=10 dom=? mon=* dow=6L y=2002,2003,2004,2005'],
  ['0 15 10 ? * 6#3', 's=0 m=15 h=10 dom=? mon=* dow=6#3'],
  ['0 0 12 1/5 * ?', 's=0 m=0 h=12 dom=1,6,11,16,21,26,31 mon=* dow=?'],
  ['0 11 11 11 11 ?', 's=0 m=11 h=11 dom=11 mon=11 dow=?'],
  ['* * * * * ?', 's=* m=* h=* dom=* mon=* dow=?'],
  ['0 0 0 LW * ?', 's=0 m=0 h=0 dom=LW mon=* dow=?'],
  ['0 0 0 L-5W * ?', 's=0 m=0 h=0 dom=L-5W mon=* dow=?'],
  ['0 0 0 15W * ?', 's=0 m=0 h=0 dom=15W mon=* dow=?'],
  ['0 0 0 15W,L * ?', 's=0 m=0 h=0 dom=L,15W mon=* dow=?'],
  ['0 0 0 1,15W * ?', 's=0 m=0 h=0 dom=1,15W mon=* dow=?'],
  ['0 0 0 LW,15 * ?', 's=0 m=0 h=0 dom=15,LW mon=* dow=?'],
  ['0 0 0 L-1W,L-1 * ?', 's=0 m=0 h=0 dom=L-1,L-1W mon=* dow=?'],
  ['0 0 0 L-30 * ?', 's=0 m=0 h=0 dom=L-30 mon=* dow=?'],
  ['0 0 0 L-0 * ?', 's=0 m=0 h=0 dom=L mon=* dow=?'],
  ['0 0 0 ? * L', 's=0 m=0 h=0 dom=? mon=* dow=7'],
  ['0 0 0 ? * SAT', 's=0 m=0 h=0 dom=? mon=* dow=7'],
  ['0 0 0 ? * FRIL', 's=0 m=0 h=0 dom=? mon=* dow=6L'],
  ['0 0 0 ? * fridayl', 's=0 m=0 h=0 dom=? mon=* dow=6L'],
  ['0 0 0 ? * FRI#2', 's=0 m=0 h=0 dom=? mon=* dow=6#2'],
  ['0 0 0 ? * SUN#5', 's=0 m=0 h=0 dom=? mon=* dow=1#5'],
  ['0 0 0 ? * 1L', 's=0 m=0 h=0 dom=? mon=* dow=1L'],
  ['0 0 22-2 * * ?', 's=0 m=0 h=0,1,2,22,23 dom=* mon=* dow=?'],
  ['0 0 0 ? NOV-FEB MON', 's=0 m=0 h=0 dom=? mon=1,2,11,12 dow=2'],
  ['0 0 0 28-3 * ?', 's=0 m=0 h=0 dom=1,2,3,28,29,30,31 mon=* dow=?'],
  ['50-10 * * * * ?', `s=${range(0, 10)},${range(50, 59)} m=* h=* dom=* mon=* dow=?`],
  ['10-5/2 * * * * ?', `s=0,2,4,${range(10, 58, 2)} m=* h=* dom=* mon=* dow=?`],
  ['0 0 0 ? * FRI-MON', 's=0 m=0 h=0 dom=? mon=* dow=1,2,6,7'],
  ['0 0 0 1 1 ? 2030', 's=0 m=0 h=0 dom=1 mon=1 dow=? y=2030'],
  ['0 0 0 1 1 ? 2030/2', `s=0 m=0 h=0 dom=1 mon=1 dow=? y=${range(2030, 2198, 2)}`],
  ['0 0 0 1 1 ? */5', `s=0 m=0 h=0 dom=1 mon=1 dow=? y=${range(1970, 2195, 5)}`],
  ['0 0 0 1 1 ? 2025-2035/3', 's=0 m=0 h=0 dom=1 mon=1 dow=? y=2025,2028,2031,2034'],
  ['0 0 0 * * ? *', 's=0 m=0 h=0 dom=* mon=* dow=?'],
  ['0/59 * * * * ?', 's=0,59 m=* h=* dom=* mon=* dow=?'],
  ['5-10/2 * * * * ?', 's=5,7,9 m=* h=* dom=* mon=* dow=?'],
  ['5-10/70 * * * * ?', 's=5 m=* h=* dom=* mon=* dow=?'],
  ['/5 * * * * ?', `s=${range(0, 55, 5)} m=* h=* dom=* mon=* dow=?`],
  ['*/5 * * * * ?', `s=${range(0, 55, 5)} m=* h=* dom=* mon=* dow=?`],
  ['0/5,30/10 * * * * ?', `s=${range(0, 55, 5)} m=* h=* dom=* mon=* dow=?`],
  ['0-59 * * * * ?', `s=${range(0, 59)} m=* h=* dom=* mon=* dow=?`],
  ['007 * * * * ?', 's=7 m=* h=* dom=* mon=* dow=?'],
  ['0 0 0 1 jan-mar ?', 's=0 m=0 h=0 dom=1 mon=1,2,3 dow=?'],
  ['0 0 0 1 JANUARY ?', 's=0 m=0 h=0 dom=1 mon=1 dow=?'],
  ['0 0 0 1 JAN,MAR-MAY ?', 's=0 m=0 h=0 dom=1 mon=1,3,4,5 dow=?'],
  ['0 0 0 ? * MONDAY', 's=0 m=0 h=0 dom=? mon=* dow=2'],
  ['0 0 0 ? * mon,wed', 's=0 m=0 h=0 dom=? mon=* dow=2,4'],
  ['0 0 0 ? * TUE-THU,SAT', 's=0 m=0 h=0 dom=? mon=* dow=3,4,5,7'],
  ['0 0 0 ? * 1-7', 's=0 m=0 h=0 dom=? mon=* dow=1,2,3,4,5,6,7'],
  ['0 0 0 ? * */2', 's=0 m=0 h=0 dom=? mon=* dow=1,3,5,7'],
  ['0 0 0 */2 * ?', `s=0 m=0 h=0 dom=${range(1, 31, 2)} mon=* dow=?`],
  ['0 0 12 1W * ? 2026', 's=0 m=0 h=12 dom=1W mon=* dow=? y=2026'],
  ['0  0\t12 * * ?', 's=0 m=0 h=12 dom=* mon=* dow=?'],
  ['  0 0 12 * * ?  ', 's=0 m=0 h=12 dom=* mon=* dow=?'],
]

describe('accepted expressions', () => {
  it.each(accepted)('%s means %s', (expression, expected) => {
    expect(shown(CronExpression.parse(expression, zone).summary())).toBe(expected)
  })
})

describe('names stand wherever numbers may', () => {
  it.each([
    ['0 0 0 ? * MON/2', 's=0 m=0 h=0 dom=? mon=* dow=2,4,6'],
    ['0 0 0 ? * MON-FRI/2', 's=0 m=0 h=0 dom=? mon=* dow=2,4,6'],
    ['0 0 0 1 JAN/3 ?', 's=0 m=0 h=0 dom=1 mon=1,4,7,10 dow=?'],
    ['0 0 0 1 JAN-3 ?', 's=0 m=0 h=0 dom=1 mon=1,2,3 dow=?'],
    ['0 0 0 1 11-FEB ?', 's=0 m=0 h=0 dom=1 mon=1,2,11,12 dow=?'],
    ['0 0 0 ? * 2-Friday', 's=0 m=0 h=0 dom=? mon=* dow=2,3,4,5,6'],
  ])('%s means %s', (expression, expected) => {
    expect(shown(CronExpression.parse(expression, zone).summary())).toBe(expected)
  })
})

/** What Java takes and then does not do as written: expression, field, position, what the suggestion contains. */
const stricterThanJava: readonly (readonly [string, string, number, string | null])[] = [
  ['0 0 0 ? * 2#1,4', 'dayOfWeek', 10, 'one trigger per day'],
  ['0 0 0 ? * MON-FRI#2', 'dayOfWeek', 17, 'one trigger per day'],
  ['0 0 0 1 1 ? 1969', 'year', 12, null],
  ['0 0 0 1 1 ? 2300', 'year', 12, null],
  ['0 0/0 * * * ?', 'minute', 4, "Leave '/0' out"],
  ['0 */0 * * * ?', 'minute', 4, "Leave '/0' out"],
  ['5-10/0 * * * * ?', 'second', 5, "Leave '/0' out"],
  ['1,2,,3 * * * * ?', 'second', 4, "'1,2,3'"],
  ['1,2, * * * * ?', 'second', 4, "'1,2'"],
  [', * * * * ?', 'second', 0, "'*'"],
  ['0 0 0 0W * ?', 'dayOfMonth', 6, null],
  ['0 0 0 1-5W * ?', 'dayOfMonth', 9, 'each with its own W'],
  ['0 0 0 * L ?', 'month', 8, null],
  ['0 0 0 ? * 2L3', 'dayOfWeek', 12, null],
  ['0 0 12 * * ?X', 'dayOfWeek', 11, "'?'"],
  ['0 0 12 ?5 * *', 'dayOfMonth', 7, "'?'"],
  ['0 0 12 ?? * *', 'dayOfMonth', 7, "'?'"],
  ['0 0 0 31 2 ?', 'dayOfMonth', 6, 'Name a day'],
  ['0 0 0 30 FEB ?', 'dayOfMonth', 6, 'Name a day'],
  ['0 0 0 29 2 ? 2023/4', 'dayOfMonth', 6, 'Name a day'],
  ['0 0 0 ? 2 MON#5 2023', 'dayOfWeek', 10, 'Name a day'],
  ['0 0 0 5C * ?', 'dayOfMonth', 7, "'5'"],
  ['0 0 0 ? * L-3', 'dayOfWeek', 10, null],
  ['1.5 * * * * ?', 'second', 1, "'1,5'"],
  ['1;2 * * * * ?', 'second', 1, "'1,2'"],
  ['*5 * * * * ?', 'second', 1, "'*/5'"],
  ['0 0 12 * * ? 2030X', 'year', 17, null],
]

/** What Java refuses as well. */
const refused: readonly (readonly [string, string, number, string | null])[] = [
  ['* * * * * *', 'dayOfWeek', 10, "'* * * * * ?'"],
  ['0 0 12 ? * ?', 'dayOfWeek', 11, "'0 0 12 ? * *'"],
  ['0 0 0 1 * MON', 'dayOfWeek', 10, "'?' in exactly one day field"],
  ['0 0 0 * * MON', 'dayOfWeek', 10, "'0 0 0 ? * MON'."],
  // As other crons count them, for which such an expression was written.
  ['0 0 7 * * 1-5', 'dayOfWeek', 10, "'0 0 7 ? * MON-FRI'. Days are named"],
  ['0 0 7 * * 7,6', 'dayOfWeek', 10, "'0 0 7 ? * SUN,SAT'. Days are named"],
  ['0 0 7 * * 5L', 'dayOfWeek', 10, "'0 0 7 ? * FRIL'. Days are named"],
  ['0 0 7 * * 2#1', 'dayOfWeek', 10, "'0 0 7 ? * TUE#1'. Days are named"],
  ['0 0 7 * * */2', 'dayOfWeek', 10, "'0 0 7 ? * */2'."],
  ['0 0 0 L * L', 'dayOfWeek', 10, "'?' in exactly one day field"],
  ['0 0 12', 'dayOfMonth', 6, null],
  ['0 0 12 * *', 'dayOfWeek', 10, "dialect: 'unix', as CronScheduleBuilder.unixCron"],
  ['*/5 * * * *', 'dayOfWeek', 11, "dialect: 'unix'"],
  ['@daily', 'second', 0, "dialect: 'unix'"],
  ['', 'second', 0, null],
  ['   ', 'second', 0, null],
  ['0 0 12 * * ? 2020 2021', 'year', 18, 'Nothing may follow'],
  ['0 0 12 * ? MON', 'month', 9, "'*'"],
  ['0 0 0 * * ? ?', 'year', 12, "'*'"],
  ['? 0 0 * * ?', 'second', 0, "'*'"],
  ['0 0 0 ? * FRI#6', 'dayOfWeek', 14, null],
  ['0 0 0 ? * FRI#0', 'dayOfWeek', 14, null],
  ['0 0 0 ? * 6#', 'dayOfWeek', 12, null],
  ['0 0 0 ? * 2#1,4#2', 'dayOfWeek', 10, 'one trigger per day'],
  ['0 0 0 ? * 6L,2', 'dayOfWeek', 10, 'one trigger per day'],
  ['0 0 0 ? * 2,6L', 'dayOfWeek', 12, 'one trigger per day'],
  ['0 43 9 ? * SAT,SUN,L', 'dayOfWeek', 19, 'one trigger per day'],
  ['0 0 0 1 1 ? 2030-2025', 'year', 12, "'2025-2030'"],
  ['60 * * * * ?', 'second', 0, "'0'"],
  ['* 60 * * * ?', 'minute', 2, "'0'"],
  ['* * 24 * * ?', 'hour', 4, 'hour 0'],
  ['* * * 0 * ?', 'dayOfMonth', 6, null],
  ['* * * 32 * ?', 'dayOfMonth', 6, null],
  ['* * * ? 0 1', 'month', 8, '1=JAN'],
  ['* * * ? 13 1', 'month', 8, null],
  ['* * * ? * 0', 'dayOfWeek', 10, '1=SUN'],
  ['* * * ? * 8', 'dayOfWeek', 10, '1=SUN'],
  ['*/61 * * * * ?', 'second', 2, null],
  ['0/60 * * * * ?', 'second', 2, null],
  ['0 0 */25 * * ?', 'hour', 6, null],
  ['0 0 0 */32 * ?', 'dayOfMonth', 8, null],
  ['0 0 0 ? */13 1', 'month', 10, null],
  ['0 0 0 ? * */8', 'dayOfWeek', 12, null],
  ['/ 0 8-18 ? * 2-6', 'second', 1, null],
  ['0 0 8-18 ? * 2-6/', 'dayOfWeek', 17, null],
  ['0 0 0 L-31 * ?', 'dayOfMonth', 8, null],
  ['0 0 0 L- * ?', 'dayOfMonth', 8, null],
  ['0 0 0 L3 * ?', 'dayOfMonth', 6, "'L-3'"],
  ['0 0 0 LW-3 * ?', 'dayOfMonth', 6, "'L-3W'"],
  ['0 0 0 3L * ?', 'dayOfMonth', 7, "'L-3'"],
  ['0 0 0 W * ?', 'dayOfMonth', 6, null],
  ['0 0 0 W15 * ?', 'dayOfMonth', 6, "'15W'"],
  ['0 0 0 WL * ?', 'dayOfMonth', 6, "'LW'"],
  ['0 0 0 32W * ?', 'dayOfMonth', 6, null],
  ['L 0 0 * * ?', 'second', 0, null],
  ['-5 * * * * ?', 'second', 0, null],
  ['5- * * * * ?', 'second', 2, null],
  ['5-60 * * * * ?', 'second', 2, null],
  ['a * * * * ?', 'second', 0, null],
  ['0 0 0 10-L * ?', 'dayOfMonth', 9, null],
  ['0 0 0 ? * MON-L', 'dayOfWeek', 14, null],
  ['0 0 0 ? * MON-*', 'dayOfWeek', 14, "'MON-7'"],
  ['0 0 0 ? Foo *', 'month', 8, null],
  ['0 0 0 ? Jan-Foo *', 'month', 12, null],
  ['0 0 0 1 JANU ?', 'month', 8, "'JAN'"],
  ['0 0 0 ? * TUES', 'dayOfWeek', 10, "'TUE'"],
  ['0 0 0 ? * MAR', 'dayOfWeek', 10, null],
  ['0 0 H * * ?', 'hour', 4, null],
  ['0 0 é * * ?', 'hour', 4, null],
  ['0 0 12 ẞ * ?', 'dayOfMonth', 7, null],
  ['0 0 12 * * ?\n', 'dayOfWeek', 11, "'?'"],
]

describe('refused expressions', () => {
  it.each([...stricterThanJava, ...refused])(
    '%s is wrong in %s at %i',
    (expression, field, position, hint) => {
      const error = refusal(expression)
      expect({ field: error.field, position: error.position }).toEqual({ field, position })
      expect(error.code).toBe('ERR_INVALID_CRON_EXPRESSION')
      expect(error.expression).toBe(expression)
      expect(error.message).toContain(`position ${position}`)
      if (hint === null) return
      expect(error.suggestion).toContain(hint)
      expect(error.message).toContain(hint)
    },
  )

  it('names the field and the bounds in its message', () => {
    expect(refusal('0 0 24 * * ?').message).toBe(
      "Invalid cron expression '0 0 24 * * ?': hour must be from 0 to 23, found 24 (hour field, position 4). " +
        'Midnight is hour 0.',
    )
  })

  it('takes a value that is no string for what it is', () => {
    expect(() => CronExpression.parse(5 as unknown as string)).toThrow(CronExpressionError)
    expect(CronExpression.isValid(undefined as unknown as string)).toBe(false)
  })
})

describe('junk', () => {
  const words = [
    '*',
    '?',
    '0',
    '59',
    'L',
    'W',
    '#',
    '/',
    '-',
    ',',
    'MON',
    'JAN',
    ' ',
    '\t',
    '9',
    'é',
    '\u{1F600}',
    '@',
  ]

  function timesOf(texts: readonly string[]): number[] {
    return texts.map((text) => {
      const startMs = performance.now()
      CronExpression.isValid(text)
      return performance.now() - startMs
    })
  }

  function median(values: readonly number[]): number {
    return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  }

  it('of any kind is refused or read in well under a millisecond (seed 7)', () => {
    let state = 7
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    const texts = Array.from({ length: 3000 }, () =>
      Array.from({ length: random(60) }, () => words[random(words.length)] ?? '').join(''),
    )
    expect(median(timesOf(texts))).toBeLessThan(1)
  })

  it.each([
    ['digits', '9'.repeat(100_000)],
    ['stars', '*'.repeat(100_000)],
    ['spaces', ' '.repeat(100_000)],
    ['commas', `0 0 0 ${'1,'.repeat(50_000)} * ?`],
    ['fields', '* '.repeat(50_000)],
    ['letters', `0 0 0 ? * ${'MON'.repeat(33_000)}`],
    ['slashes', `${'*/'.repeat(50_000)} * * * * ?`],
  ])('of 100 kB of %s is refused at once', (_, text) => {
    const runs = Array.from({ length: 21 }, () => text)
    const times = timesOf(runs)
    expect(CronExpression.isValid(text)).toBe(false)
    expect(median(times)).toBeLessThan(1)
    expect(Math.min(...times)).toBeLessThan(20)
    expect(refusal(text).message.length).toBeLessThan(400)
  })

  it.each([
    ['digits', `${'9'.repeat(1000)} * * * * ?`],
    ['letters', `0 0 0 ? * ${'A'.repeat(1000)}`],
    ['list', `0 0 0 ${'1,'.repeat(500)} * ?`],
  ])('of a long field of %s has a short message', (_, text) => {
    expect(refusal(text).message.length).toBeLessThan(3000)
  })
})

it('an end of line or another control character never breaks a message', () => {
  const { message, position } = refusal('0 0 12 * * ?\n\u0007')
  expect(message).toMatch(/^Invalid cron expression '0 0 12 \* \* \?\\u000a\\u0007': /)
  expect(message).not.toMatch(/\p{Cc}/u)
  expect(position).toBe(11)
})
