import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as browser from '../../src/cron.ts'
import {
  CronCalendar,
  CronExpression,
  CronExpressionError,
  CronScheduleBuilder,
  InvalidArgumentError,
  TriggerBuilder,
} from '../../src/index.ts'
import { IntlZone } from '../../src/time/intl-zone.ts'
import { TimeZone } from '../../src/time/zone.ts'
import { anyCron } from '../support/cron-arbitrary.ts'

const seed = 20_261_122
const runs = 2_000
const zones = Intl.supportedValuesOf('timeZone')
const zone = fc.constantFrom(...zones)
const dst = fc.constantFrom('vixie' as const, 'quartz' as const)
const from = fc.date({ min: new Date('1969-01-01'), max: new Date('2200-06-01'), noInvalidDate: true })

/** What an expression says of itself and of the time round an instant, or what is wrong with it. */
function answers(
  { parse }: Pick<typeof CronExpression | typeof browser.CronExpression, 'parse'>,
  text: string,
  options: Parameters<typeof CronExpression.parse>[1],
  date: Date,
): unknown {
  try {
    const cron = parse(text, options)
    return {
      json: cron.toJSON(),
      summary: cron.summary(),
      words: cron.describe(),
      next: cron.getTimesAfter(date, 3),
      previous: cron.getTimesBefore(date, 3),
      satisfied: cron.isSatisfiedBy(date),
      invalid: cron.getNextInvalidTimeAfter(date),
    }
  } catch (error) {
    if (!(error instanceof CronExpressionError)) throw error
    return { field: error.field, position: error.position, message: error.message }
  }
}

const sometimesOver = (max: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max }) },
    { weight: 1, arbitrary: fc.constant(max + 1) },
  )

/** A number or a name of three letters, now and then one that the field does not have. */
const unixValue = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: sometimesOver(max).map(String) },
    { weight: 1, arbitrary: fc.constantFrom('JAN', 'Feb', 'dec', 'SUN', 'mon', 'SAT', 'FOO', '007') },
  )

/** `*`, a value or a range, with or without a step: what cron-parser and this package read alike. */
const plainItem = (max: number): fc.Arbitrary<string> => {
  const value = unixValue(max)
  const range = fc.tuple(value, value).map(([first, last]) => `${first}-${last}`)
  const body = fc.oneof(fc.constant('*'), value, range)
  const step = fc.integer({ min: 1, max }).map((by) => `/${by}`)
  return fc
    .tuple(body, fc.oneof({ weight: 3, arbitrary: fc.constant('') }, step))
    .map((parts) => parts.join(''))
}

const special = fc.constantFrom('L', '5L', 'FRIL', '7L', '0L', '1#2', 'MON#5', '7#1', 'SUN#2')
const strange = fc.constantFrom(
  '?',
  'H',
  '',
  '/5',
  '1W',
  'L-3',
  '1-',
  '1-2-3',
  '1.5',
  '1;2',
  '**',
  '1/0',
  '1-3/99',
  '8L',
  'MONDAY',
)

function unixField(max: number, item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: sometimesOver(max).map(String) },
    { weight: 3, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')) },
  )
}

/** Minutes to days of the week; each field's largest value. */
const largest = [59, 23, 31, 12, 7]
const texts = (itemOf: (max: number) => fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(...largest.map((max) => unixField(max, itemOf(max)))).map((fields) => fields.join(' '))

describe('the expressions of quartz-ts/cron', () => {
  it('answer in the Quartz dialect what those of quartz-ts answer, in every zone', () => {
    fc.assert(
      fc.property(anyCron, zone, dst, from, (text, timeZone, policy, date) => {
        const options = { timeZone, dst: policy }
        expect(answers(browser.CronExpression, text, options, date)).toEqual(
          answers(CronExpression, text, options, date),
        )
      }),
      { seed, numRuns: runs },
    )
  })

  it('answer in the Unix dialect what those of quartz-ts answer, whose values cron-parser reads', () => {
    let taken = 0
    const text = texts((max) =>
      fc.oneof(
        { weight: 12, arbitrary: plainItem(max) },
        { weight: 2, arbitrary: special },
        { weight: 1, arbitrary: strange },
      ),
    )
    fc.assert(
      fc.property(text, zone, from, (unix, timeZone, date) => {
        const options = { timeZone, dialect: 'unix' } as const
        const answer = answers(browser.CronExpression, unix, options, date)
        expect(answer).toEqual(answers(CronExpression, unix, options, date))
        if ('json' in Object(answer)) taken += 1
      }),
      { seed, numRuns: 2 * runs },
    )
    expect(taken).toBeGreaterThan(runs / 4)
  })

  it('take exactly the Unix expressions of plain items that cron-parser takes, but for what is named twice', () => {
    const taken = { yes: 0, no: 0 }
    const position = fc.nat({ max: largest.length - 1 })
    const one = position.chain((index) => {
      const max = largest[index] ?? 0
      const item = index < 3 ? plainItem(max) : fc.oneof({ weight: 4, arbitrary: plainItem(max) }, special)
      const list = fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(','))
      return list.map((field) => largest.map((_, at) => (at === index ? field : '*')).join(' '))
    })
    fc.assert(
      fc.property(fc.oneof(one, texts(plainItem)), (unix) => {
        const isTaken = isTakenByCronParser(unix)
        fc.pre(isTaken !== 'twice')
        const isValid = browser.CronExpression.isValid(unix, { dialect: 'unix' })
        expect(isValid).toBe(isTaken)
        taken[isValid ? 'yes' : 'no'] += 1
      }),
      { seed, numRuns: 10 * runs },
    )
    expect(taken.yes).toBeGreaterThan(runs)
    expect(taken.no).toBeGreaterThan(runs)
  })

  it('take a list of items that overlap for all that one of them names', () => {
    let overlaps = 0
    const lists = fc
      .nat({ max: largest.length - 1 })
      .chain((index) =>
        fc.tuple(
          fc.constant(index),
          fc.array(plainItem(largest[index] ?? 0), { minLength: 2, maxLength: 4 }),
        ),
      )
    fc.assert(
      fc.property(lists, from, ([index, items], date) => {
        const textOf = (field: string) => largest.map((_, at) => (at === index ? field : '*')).join(' ')
        const list = textOf(items.join(','))
        const isOverlapping = isTakenByCronParser(list) === 'twice'
        const all = items.map(textOf)
        fc.pre(isOverlapping && all.every((text) => isTakenByCronParser(text) === true))
        overlaps += 1
        const nextOf = (text: string) =>
          CronExpression.parse(text, { dialect: 'unix', timeZone: 'UTC' }).nextTimeMs(date.getTime()) ??
          Infinity
        expect(nextOf(list)).toBe(Math.min(...all.map(nextOf)))
      }),
      { seed, numRuns: runs },
    )
    expect(overlaps).toBeGreaterThan(runs / 4)
  })

  it('may be given to what takes those of quartz-ts', () => {
    const expression = browser.CronExpression.parse('0 0 7 ? * MON-FRI', { timeZone: 'Europe/Paris' })
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity('t')
      .forJob('j')
      .withSchedule(CronScheduleBuilder.cronSchedule(expression))
      .build()
    expect(trigger.cronExpression).toBe(expression)
    const same = CronExpression.parse(expression.expression, expression.toJSON())
    expect(same.equals(expression) && expression.equals(same)).toBe(true)
    expect(new CronCalendar({ expression }).toJSON()).toEqual(new CronCalendar({ expression: same }).toJSON())
    expect(expression.withTimeZone('Asia/Tokyo')).toBeInstanceOf(browser.CronExpression)
    expect(expression.withDst('quartz').dst).toBe('quartz')
  })

  it('read Unix expressions and macros, and name an unknown zone', () => {
    expect(browser.parseUnixCron('@daily', { timeZone: 'UTC' }).describe()).toBe('At 00:00')
    expect(browser.parseUnixCron('0 7 * * 1-5').timeZone).toBe(TimeZone.system().name)
    expect(() => browser.CronExpression.parse('0 0 0 * * ?', { timeZone: 'Europe/Pari' })).toThrow(
      "Did you mean 'Europe/Paris'?",
    )
  })
})

/** 'twice' where it refuses a list only because two items have a value in common, as in `0-10,5`. */
function isTakenByCronParser(unix: string): boolean | 'twice' {
  try {
    CronExpressionParser.parse(unix, { currentDate: 0, tz: 'UTC' })
    return true
  } catch (error) {
    return error instanceof Error && error.message.includes('duplicate values') ? 'twice' : false
  }
}

describe('offsets by Intl', () => {
  it('are those of luxon, in every zone and at every time', () => {
    const instant = fc.oneof(fc.integer({ min: -6e13, max: 2.5e13 }), fc.integer({ min: -4e12, max: 5e12 }))
    fc.assert(
      fc.property(zone, instant, (name, epochMs) => {
        expect(IntlZone.of(name).segmentAt(epochMs)).toEqual(TimeZone.of(name).segmentAt(epochMs))
      }),
      { seed, numRuns: runs },
    )
  })

  it('are known by the same names', () => {
    for (const name of ['europe/paris', 'UTC', 'EST5EDT', 'Etc/GMT+5', 'US/Eastern']) {
      expect(IntlZone.of(name).offsetMsAt(0)).toBe(TimeZone.of(name).offsetMsAt(0))
    }
    for (const name of ['', 'Mars/Base', '+05:00', 'utc+1', 'x'.repeat(100)]) {
      expect(() => IntlZone.of(name)).toThrow(InvalidArgumentError)
      expect(TimeZone.isKnown(name)).toBe(false)
    }
  })
})
