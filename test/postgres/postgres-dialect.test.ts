import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresDialect } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { type SqlStatement, sqlQuery } from '../../src/jobstore/sql/kernel/statement.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

const d = postgresDialect

describe('the PostgreSQL dialect, on a server', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database[Symbol.asyncDispose]())

  const rowsOf = ({ text, values }: SqlStatement): Promise<Record<string, unknown>[]> =>
    database.query(text, values)

  test('binds a set of rows as one text and lets an alias stand behind it', async () => {
    const rows = d.rowSet('rows', { name: 'text', n: 'bigint', flag: 'boolean' })
    const query = sqlQuery<{ rows: string; least: number }>(
      d,
      `SELECT x.name, x.n, x.flag FROM ${rows} AS x WHERE x.n >= :least ORDER BY x.n`,
    )
    const given = [
      { name: 'b', n: 9007199254740991, flag: true },
      { name: `it's "ü" \\ 日本`, n: 2 },
      { name: 'a', n: 1, flag: false },
    ]
    expect(await rowsOf(query({ rows: JSON.stringify(given), least: 2 }))).toEqual([
      { name: `it's "ü" \\ 日本`, n: '2', flag: null },
      { name: 'b', n: '9007199254740991', flag: true },
    ])
    expect(await rowsOf(query({ rows: '[]', least: 0 }))).toEqual([])
  })

  test('binds rows column by column, with whatever is in their texts', async () => {
    const sets = d.columnSets ?? expect.fail()
    const textOf = (values: Parameters<typeof sets.textOf>[0]): string => sets.textOf(values)
    const query = sqlQuery<{ name: string; n: string; flag: string }>(
      d,
      `SELECT x.* FROM ${sets.of({ name: 'text', n: 'bigint', flag: 'boolean' })} AS x`,
    )
    const names = ['', 'null', null, 'NULL', '{a,b}', ' a ', `it's "ü" \\ 日本 𝒳`, '\\', '"', 'a\nb\t', "'"]
    const rows = names.map((name, index) => ({
      name,
      n: index === 1 ? null : String(index - 3),
      flag: index === 2 ? null : index % 2 === 0,
    }))
    const bound = query({
      name: textOf(names),
      n: textOf(rows.map(({ n }) => (n === null ? null : Number(n)))),
      flag: textOf(rows.map(({ flag }) => flag)),
    })
    expect(await rowsOf(bound)).toEqual(rows)
    expect(await rowsOf(query({ name: textOf([]), n: textOf([]), flag: textOf([]) }))).toEqual([])
  })

  test('binds no half of a surrogate pair, which would be stored as another character', () => {
    expect(() => d.columnSets?.textOf(['a', 'b\ud800c'])).toThrow('surrogate')
  })

  test('refuses a column that PostgreSQL would fold to another name', () => {
    expect(() => d.rowSet('rows', { fireTime: 'bigint' })).toThrow('lower case')
  })

  test('uses one placeholder for one value', () => {
    expect(sqlQuery(d, 'SELECT :a, :b, :a')({ a: 1, b: 2 })).toEqual({
      text: 'SELECT $1, $2, $1',
      values: [1, 2],
    })
  })

  test.each([
    ['startsWith', 'a%b', 'a%', true],
    ['startsWith', 'axb', 'a%', false],
    ['startsWith', 'Ab', 'a', false],
    ['startsWith', 'ab', '', true],
    ['endsWith', 'a_b', '_b', true],
    ['endsWith', 'axb', '_b', false],
    ['endsWith', 'ab', '', true],
    ['endsWith', 'b', 'ab', false],
    ['contains', 'a\\b', '\\', true],
    ['contains', 'axb', '_', false],
    ['contains', 'ab', '', true],
  ] as const)('%s: %j %j is %s', async (predicate, name, operand, expected) => {
    const query = sqlQuery<{ name: string; operand: string }>(
      d,
      `SELECT ${d[predicate]('x.name', ':operand')} AS found FROM (SELECT CAST(:name AS varchar(200)) AS name) AS x`,
    )
    expect(await rowsOf(query({ name, operand }))).toEqual([{ found: expected }])
  })

  test('compares keys by code point, unlike the database', async () => {
    const sorted = (collation: string): SqlStatement =>
      sqlQuery<{ rows: string }>(
        d,
        `SELECT x.name FROM ${d.rowSet('rows', { name: 'text' })} AS x ORDER BY x.name${collation}`,
      )({ rows: JSON.stringify(['b', 'a', 'B', 'é', '_'].map((name) => ({ name }))) })
    const names = async (collation: string): Promise<unknown[]> =>
      (await rowsOf(sorted(collation))).map(({ name }) => name)
    expect(await names(d.keyCollation)).toEqual(['B', '_', 'a', 'b', 'é'])
  })

  test('turns text into the bytes of a data column', async () => {
    const query = sqlQuery<{ text: string }>(d, `SELECT ${d.textToBytes('CAST(:text AS text)')} AS data`)
    expect(await rowsOf(query({ text: 'é' }))).toEqual([{ data: Buffer.from('é') }])
  })

  test('knows the time of the database, to the millisecond, at each statement', async () => {
    const [row] = await rowsOf(sqlQuery(d, `SELECT ${d.nowMs ?? ''} AS now`)({}))
    expect(Math.abs(Number(row?.['now']) - Date.now())).toBeLessThan(60_000)
  })

  test('locks the rows of one alias, with and without skipping those that others hold', async () => {
    await database.query('CREATE TABLE locked (id int PRIMARY KEY)')
    for (const end of [d.forUpdate('a'), d.forShare('a'), d.forUpdateSkipLocked('a')]) {
      const text = `SELECT a.id FROM locked a LEFT JOIN locked b ON b.id = a.id ${end}`
      expect(await rowsOf({ text, values: [] })).toEqual([])
    }
  })
})
