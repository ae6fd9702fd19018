import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'

const program = fileURLToPath(new URL('java/ShardTables.java', import.meta.url))
const stored = new URL('../jobstore/shard-tables.jsonl', import.meta.url)

const javaTest = test.skipIf(inject('javaClassPath') === null) // reason: see java-setup.ts, which says what is missing

// The unit test of the strategies compares with what is stored.
javaTest('the stored tables of strategies are what Java prints', () => {
  expect(execFileSync('java', [program], { encoding: 'utf8' })).toBe(readFileSync(stored, 'utf8'))
})
