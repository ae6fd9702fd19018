import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/sqlite.ts'
import { run } from './fake-host.ts'

function columnCount(filename: string): number {
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
  })
  const { count } = database
    .prepare(
      `SELECT count(*) AS count FROM sqlite_schema m JOIN pragma_table_info(m.name) WHERE m.type = 'table'`,
    )
    .get() as { count: number }
  return count
}

describe('quartz-ts migrate', () => {
  test('makes the tables of a SQLite file, once', async () => {
    const file = join(temporaryFolder(), 'jobs.db')
    expect(await run(['migrate', '--store', file])).toEqual({
      code: 0,
      out: `${file}: applied version 1, 2\n`,
      err: '',
    })
    expect(await run(['migrate', '--store', file])).toEqual({
      code: 0,
      out: `${file}: nothing to do\n`,
      err: '',
    })
    const again = await run(['migrate', '--store', file, '--prefix', 'b_'])
    expect(again.out).toBe(`${file}: applied version 1, 2\n`)
  })

  test('prints a script that makes the same tables', async () => {
    const [migrated, printed] = [join(temporaryFolder(), 'a.db'), join(temporaryFolder(), 'b.db')]
    await run(['migrate', '--store', migrated])
    const { code, out } = await run(['migrate', '--store', printed, '--print'])
    expect(code).toBe(0)
    const database = new Database(printed)
    database.exec(out)
    database.close()
    expect(columnCount(printed)).toBe(columnCount(migrated))
    expect((await run(['migrate', '--store', printed])).out).toBe(`${printed}: nothing to do\n`)
  })

  test('prints the statements for PostgreSQL without connecting', async () => {
    const { out } = await run(['migrate', '--store', 'postgres://nowhere', '--print', '--schema', 'jobs'])
    expect(out).toContain('CREATE TABLE IF NOT EXISTS "jobs".qrtz_triggers (')
    expect(out).toContain('job_data bytea')
    const adopted = await run(['migrate', '--store', 'postgres:', '--print', '--adopt'])
    expect(adopted.out).not.toContain('CREATE TABLE IF NOT EXISTS qrtz_triggers')
    expect(adopted.out).toContain('ALTER TABLE qrtz_triggers ADD COLUMN misfire_orig_fire_time bigint')
  })

  test.each([
    [[], /'migrate' needs --store/],
    [['jobs.db'], /'migrate' takes options only, got 'jobs.db'/],
    [['--store', 'a.db', '--schema', 'b'], /--schema is for PostgreSQL only/],
    [['--store', 'a.db', '--adopt'], /--adopt goes with --print/],
  ])('%j is a usage error', async (args, message) => {
    const { code, err } = await run(['migrate', ...args])
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  test('says in words what is wrong with a store', async () => {
    const file = join(temporaryFolder(), 'jobs.db')
    writeFileSync(file, 'no database at all, but long enough to be looked at '.repeat(20))
    const { code, err } = await run(['migrate', '--store', file])
    expect(code).toBe(1)
    expect(err).toContain('is not a SQLite database')
    const bad = await run(['migrate', '--store', file, '--prefix', 'a-b'])
    expect(bad.code).toBe(1)
    expect(bad.err).toContain("'tablePrefix' must be a plain SQL name")
  })

  test('names a server that is away, without its password', async () => {
    const { code, err, out } = await run(['migrate', '--store', 'postgres://me:secret@127.0.0.1:1/x'])
    expect(code).toBe(5)
    expect(err).toMatch(/^quartz-ts: /)
    expect(err + out).not.toContain('secret')
  })
})
