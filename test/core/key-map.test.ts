import { expect, test } from 'vitest'
import { type JobKey, jobKey } from '../../src/core/key.ts'
import { KeyMap } from '../../src/core/key-map.ts'

test('keys of one value are one entry, in the order in which they were set', () => {
  const map = new KeyMap<JobKey, number>()
  map.set(jobKey('b'), 1)
  map.set(jobKey('a'), 2)
  map.set(jobKey('b'), 3)
  expect(map.size).toBe(2)
  expect(map.values()).toEqual([3, 2])
  expect(map.keys().map(String)).toEqual(['DEFAULT.b', 'DEFAULT.a'])
  expect(map.delete(jobKey('b'))).toBe(true)
  expect(map.has(jobKey('b'))).toBe(false)
})

test.each([
  [jobKey('b.c', 'a'), jobKey('c', 'a.b')],
  [jobKey('b\0c', 'a'), jobKey('c', 'a\0b')],
  [jobKey('2 b', '1 a'), jobKey('b', '1 a2 ')],
])('%s and %s are two keys', (one, other) => {
  const map = new KeyMap<JobKey, string>()
  map.set(one, 'one')
  map.set(other, 'other')
  expect([map.get(one), map.get(other)]).toEqual(['one', 'other'])
})
