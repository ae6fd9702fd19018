import { DateTime } from 'luxon'
import { describe, expect, test } from 'vitest'
import { instantMsOf } from '../../src/time/instant.ts'

const noon = Date.UTC(2026, 2, 29, 12)

describe('instants', () => {
  test.each([
    ['a Date', new Date(noon)],
    ['epoch milliseconds', noon],
    ['ISO 8601 in UTC', '2026-03-29T12:00:00Z'],
    ['ISO 8601 with an offset', '2026-03-29T14:00:00.000+02:00'],
    ['ISO 8601 to the minute', '2026-03-29T12:00Z'],
    ['a DateTime of luxon', DateTime.fromMillis(noon, { zone: 'Europe/Paris' })],
  ])('%s', (_what, value) => {
    expect(instantMsOf(value)).toBe(noon)
  })

  test.each([
    ['a text without an offset', '2026-03-29T12:00:00'],
    ['a date alone', '2026-03-29'],
    ['30 February', '2027-02-30T00:00:00Z'],
    ['29 February of a common year', '2027-02-29T12:00:00+02:00'],
    ['31 April', '2026-04-31T00:00Z'],
    ['any text', 'tomorrow'],
    ['a date that is none', new Date('tomorrow')],
    ['infinity', Number.POSITIVE_INFINITY],
    ['an invalid DateTime', DateTime.invalid('test')],
    ['nothing', null],
    ['an object', {}],
  ])('%s is none', (_what, value) => {
    expect(instantMsOf(value)).toBeNaN()
  })
})
