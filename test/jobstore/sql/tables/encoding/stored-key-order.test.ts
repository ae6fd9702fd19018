import { expect, test } from 'vitest'
import { TriggerKey } from '../../../../../src/core/key.ts'
import { compareStoredKeys } from '../../../../../src/jobstore/sql/tables/encoding/key-rows.ts'

const parts = [
  'a',
  'ab',
  'DEFAULT',
  '\u{D7FF}',
  '\u{E000}',
  '\u{FF08}',
  '\u{FFFF}',
  '\u{10000}',
  '\u{1F600}a',
]

test('keys are ordered as the bytes of their texts, and the group DEFAULT comes first', () => {
  const keys = parts.flatMap((group) => parts.map((name) => new TriggerKey(name, group)))
  const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const rank = ({ group }: TriggerKey): number => (group === 'DEFAULT' ? 0 : 1)
  for (const a of keys) {
    for (const b of keys) {
      const expected = rank(a) - rank(b) || bytes(a.group, b.group) || bytes(a.name, b.name)
      expect(Math.sign(compareStoredKeys(a, b)), `${String(a)} and ${String(b)}`).toBe(Math.sign(expected))
    }
  }
})
