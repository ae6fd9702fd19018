import { expect, test } from 'vitest'
import { readTypedKey, typedKey } from '../../src/server/wire/typed-key.ts'

test('a key is read as it was written, whatever signs are in it', () => {
  const parts = ['daily', 'a/b', '/', '50%', '%2F', '%252f', 'a b', '../x', 'Ä"']
  for (const group of parts) {
    for (const name of parts) expect(readTypedKey(typedKey({ group, name }))).toEqual({ group, name })
  }
})

test('looks as it is, where the group has neither a slash nor a percent sign', () => {
  expect(typedKey({ group: 'reports', name: 'a/b%' })).toBe('reports/a/b%')
  expect(typedKey({ group: 'team/a', name: 'daily' })).toBe('team%2Fa/daily')
})

test('may be a name alone, or have an empty part', () => {
  expect(readTypedKey('50%25')).toEqual({ group: null, name: '50%25' })
  expect(readTypedKey('reports/')).toEqual({ group: 'reports', name: '' })
  expect(readTypedKey('team%2fa/daily')).toEqual({ group: 'team/a', name: 'daily' })
})
