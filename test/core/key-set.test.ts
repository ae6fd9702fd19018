import { expect, test } from 'vitest'
import { type JobKey, jobKey } from '../../src/core/key.ts'
import { KeySet } from '../../src/core/key-set.ts'

test('keys of one value are one, and adding says whether it was new', () => {
  const set = new KeySet<JobKey>([jobKey('b'), jobKey('a'), jobKey('b')])
  expect(set.size).toBe(2)
  expect(set.keys().map(String)).toEqual(['DEFAULT.b', 'DEFAULT.a'])
  expect([set.add(jobKey('a')), set.add(jobKey('c')), set.has(jobKey('c'))]).toEqual([false, true, true])
  expect([set.has(jobKey('d')), set.has(jobKey('a', 'other'))]).toEqual([false, false])
})

test('one name in several groups is several keys, which stand together', () => {
  const set = new KeySet([jobKey('b', '2'), jobKey('a', '1'), jobKey('b', '1'), jobKey('b', '3')])
  expect(set.add(jobKey('b', '3'))).toBe(false)
  expect(set.keys().map(String)).toEqual(['2.b', '1.b', '3.b', '1.a'])
  expect([set.size, set.has(jobKey('b', '1')), set.has(jobKey('b', '4'))]).toEqual([4, true, false])
})

test.each([
  [jobKey('b.c', 'a'), jobKey('c', 'a.b')],
  [jobKey('b\0c', 'a'), jobKey('c', 'a\0b')],
])('%s and %s are two keys', (one, other) => {
  expect(new KeySet([one]).has(other)).toBe(false)
})
