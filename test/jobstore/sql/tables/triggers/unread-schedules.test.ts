import { expect, test } from 'vitest'
import { InvalidArgumentError } from '../../../../../src/core/errors.ts'
import { UnreadSchedules } from '../../../../../src/jobstore/sql/tables/triggers/unread-schedules.ts'

function errorOf(code: 'ERR_NOT_SUPPORTED' | 'ERR_UNKNOWN_TIME_ZONE'): Error {
  return new Error('broken', { cause: new InvalidArgumentError('value', 'it is odd.', code) })
}

test('the zone or the expression is remembered that could not be read', () => {
  const unread = new UnreadSchedules()
  const row = { zone: 'GMT+02:00', expression: '0 0 12 * * ?' }
  expect(unread.problemIn(row)).toBeNull()
  expect(unread.note(row, errorOf('ERR_UNKNOWN_TIME_ZONE'))).toBe(true)
  expect(unread.values).toEqual([{ zone: 'GMT+02:00', expression: null }])
  expect(unread.problemIn({ ...row, zone: 'UTC' })).toBeNull()
  expect(unread.note({ ...row, zone: 'UTC' }, errorOf('ERR_NOT_SUPPORTED'))).toBe(true)
  expect(unread.values).toEqual([
    { zone: 'GMT+02:00', expression: null },
    { zone: null, expression: '0 0 12 * * ?' },
  ])
  expect(unread.note({ zone: null, expression: null }, errorOf('ERR_NOT_SUPPORTED'))).toBe(false)
})

test('thousands of values are noted in no time, and the list of them stays the same until there is another', () => {
  const unread = new UnreadSchedules()
  const error = errorOf('ERR_NOT_SUPPORTED')
  const beganMs = performance.now()
  for (let index = 0; index < 10_000; index++) {
    unread.note({ zone: 'UTC', expression: `0 0 12 ${index}W,20W * ?` }, error)
  }
  // Where each one made the list anew it took several seconds.
  expect(performance.now() - beganMs).toBeLessThan(1000)
  const { values } = unread
  expect(values).toHaveLength(10_000)
  unread.note({ zone: 'UTC', expression: '0 0 12 0W,20W * ?' }, error)
  expect(unread.values).toBe(values)
})
