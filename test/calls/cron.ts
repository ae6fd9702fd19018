import * as browser from '../../src/cron.ts'
import { CronExpression } from '../../src/index.ts'
import { but, cronText, date, madeByHand, named, number, oneOf, options, plus, text, zone } from './kinds.ts'
import type { Surface } from './surface.ts'

const anExpression = oneOf('x')
const dst = oneOf('vixie')
const count = plus(number, { value: 0 }, { value: 1.5 }, { value: 100_001 })
const parsing = {
  expression: cronText('0 0 12 * * ?'),
  options: options({ timeZone: zone, dst, dialect: oneOf('quartz') }),
}

function surfacesOf(
  entry: string,
  subject: typeof CronExpression | typeof browser.CronExpression,
): Surface[] {
  return [
    {
      name: `${entry}CronExpression`,
      subject,
      calls: {
        new: { parts: madeByHand },
        parse: parsing,
        isValid: {
          expression: { ...text, good: '0 0 12 * * ?', wrong: [] },
          options: options({ dialect: oneOf('quartz') }),
        },
      },
    },
    {
      name: `${entry}CronExpression.prototype`,
      subject: subject.parse('0 0 12 * * ?', { timeZone: 'UTC' }),
      calls: {
        getTimeAfter: { date },
        getTimeBefore: { date },
        getTimesAfter: { date, count },
        getTimesBefore: { date, count },
        isSatisfiedBy: { date },
        getNextInvalidTimeAfter: { date },
        nextTimeMs: { because: 'called for every firing' },
        previousTimeMs: { because: 'called for every firing' },
        invalidMsAfter: { because: 'called for every search of a calendar' },
        describe: {},
        summary: {},
        withTimeZone: { timeZone: zone },
        withDst: { dst: named(dst, { code: 'ERR_INVALID_OPTION' }) },
        equals: { other: but(anExpression) },
        toString: {},
        toJSON: {},
      },
    },
  ]
}

export const cronSurfaces: readonly Surface[] = [
  ...surfacesOf('', CronExpression),
  ...surfacesOf('quartz-ts/cron: ', browser.CronExpression),
  {
    name: 'quartz-ts/cron',
    subject: { parseUnixCron: browser.parseUnixCron },
    calls: { parseUnixCron: { text: cronText('0 12 * * *'), options: options({ timeZone: zone, dst }) } },
  },
]
