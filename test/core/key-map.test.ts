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

test('keys of one name in several groups stand in the order in which they were set', () => {
  const map = new KeyMap<JobKey, number>()
  const keys = ['b', 'a', 'c', 'd'].flatMap((name) => ['2', '1', '3'].map((group) => jobKey(name, group)))
  const mixed = [0, 5, 3, 10, 1, 8, 2, 11, 4, 7, 6, 9].flatMap((index) => keys[index] ?? [])
  for (const [index, key] of mixed.entries()) map.set(key, index)
  const [first = jobKey('none'), second = jobKey('none')] = mixed
  map.set(jobKey(second.name, second.group), 100)
  expect(map.delete(first)).toBe(true)
  expect([map.delete(first), map.delete(jobKey(first.name, 'other')), map.has(first)]).toEqual([
    false,
    false,
    false,
  ])
  expect(map.keys().map(String)).toEqual(mixed.slice(1).map(String))
  expect(map.values()).toEqual([100, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  expect(map.size).toBe(11)
  map.set(first, 12)
  expect(map.keys().at(-1)).toBe(first)
})

test('a name of which one group was deleted is found in its other group alone', () => {
  const map = new KeyMap<JobKey, string>()
  for (const group of ['a', 'b']) map.set(jobKey('job', group), group)
  map.delete(jobKey('job', 'a'))
  expect([map.get(jobKey('job', 'a')), map.get(jobKey('job', 'b'))]).toEqual([undefined, 'b'])
  map.delete(jobKey('job', 'b'))
  expect([map.size, map.has(jobKey('job', 'b')), map.keys()]).toEqual([0, false, []])
})
