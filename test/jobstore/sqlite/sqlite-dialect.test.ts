import { expect, test } from 'vitest'
import { all, first, sqlQuery } from '../../../src/jobstore/sql/kernel/statement.ts'
import { sqliteDialect as dialect } from '../../../src/jobstore/sqlite/sqlite-dialect.ts'
import { sqliteRunner } from '../../support/sqlite.ts'

test('a set of rows is bound as one text and keeps its types', async () => {
  const runner = await sqliteRunner(':memory:')
  const rowSet = dialect.rowSet('rows', { name: 'text', at: 'bigint', big: 'boolean', none: 'text' })
  const query = sqlQuery<{ rows: string }>(dialect, `SELECT r.*, typeof(r.at) AS kind FROM ${rowSet} AS r`)
  const rows = JSON.stringify([
    { name: `O'Brien "x" :y`, at: 1_790_000_000_123, big: true, none: null },
    { name: '7', at: -1, big: false, none: null },
  ])
  expect(await runner.read(() => all(query({ rows })))).toEqual([
    { name: `O'Brien "x" :y`, at: 1_790_000_000_123, big: 1, none: null, kind: 'integer' },
    { name: '7', at: -1, big: 0, none: null, kind: 'integer' },
  ])
})

test('numbers are bound as integers, booleans as 0 and 1', async () => {
  const runner = await sqliteRunner(':memory:')
  const query = sqlQuery<{ n: number; b: boolean; f: number }>(
    dialect,
    'SELECT typeof(:n) AS n, CAST(:n AS text) AS t, :b AS b, :f AS f, :n + 1 AS more',
  )
  const row = await runner.read(() => first(query({ n: 2 ** 52, b: true, f: 1.5 })))
  expect(row).toEqual({ n: 'integer', t: '4503599627370496', b: 1, f: 1.5, more: 2 ** 52 + 1 })
})

test.each([
  ['startsWith', 'a_b', ['a_bc', 'a_b']],
  ['startsWith', '', ['a_bc', 'A_bc', 'axbc', 'a_b', 'c%', 'Ä']],
  ['endsWith', 'bc', ['a_bc', 'A_bc', 'axbc']],
  ['endsWith', 'long a_bc', []],
  ['endsWith', '', ['a_bc', 'A_bc', 'axbc', 'a_b', 'c%', 'Ä']],
  ['contains', '%', ['c%']],
  ['contains', 'ä', []],
  ['contains', '', ['a_bc', 'A_bc', 'axbc', 'a_b', 'c%', 'Ä']],
] as const)('%s %j: case counts, and no character is special', async (predicate, operand, found) => {
  const runner = await sqliteRunner(':memory:')
  const rowSet = dialect.rowSet('rows', { name: 'text' })
  const query = sqlQuery<{ rows: string; operand: string }>(
    dialect,
    `SELECT r.name FROM ${rowSet} AS r WHERE ${dialect[predicate]('r.name', ':operand')}`,
  )
  const names = ['a_bc', 'A_bc', 'axbc', 'a_b', 'c%', 'Ä']
  const rows = JSON.stringify(names.map((name) => ({ name })))
  const answer = await runner.read(() => all(query({ rows, operand })))
  expect(answer.map(({ name }) => name)).toEqual(found)
})

test('text becomes bytes', async () => {
  const runner = await sqliteRunner(':memory:')
  const query = sqlQuery<{ t: string }>(dialect, `SELECT ${dialect.textToBytes(':t')} AS bytes`)
  expect(await runner.read(() => first(query({ t: 'é' })))).toEqual({ bytes: Buffer.from('é') })
})
