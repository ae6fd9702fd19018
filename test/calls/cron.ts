import { CronExpression } from '../../src/index.ts'
import { but, cronText, date, named, oneOf, options, text, zone } from './kinds.ts'
import type { Surface } from './surface.ts'

const expression = CronExpression.parse('0 0 12 * * ?', { timeZone: 'UTC' })
const anExpression = oneOf('x')
const dst = oneOf('vixie')

export const cronSurfaces: readonly Surface[] = [
  {
    name: 'CronExpression',
    subject: CronExpression,
    calls: {
      parse: {
        expression: cronText('0 0 12 * * ?'),
        options: options({ timeZone: zone, dst, dialect: oneOf('quartz') }),
      },
      isValid: {
        expression: { ...text, good: '0 0 12 * * ?', wrong: [] },
        options: options({ dialect: oneOf('quartz') }),
      },
    },
  },
  {
    name: 'CronExpression.prototype',
    subject: expression,
    calls: {
      getTimeAfter: { date },
      getTimeBefore: { date },
      isSatisfiedBy: { date },
      getNextInvalidTimeAfter: { date },
      nextTimeMs: { because: 'called for every firing' },
      previousTimeMs: { because: 'called for every firing' },
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
