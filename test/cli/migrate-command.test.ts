import { existsSync, statSync, writeFileSync } from 'node:fs'
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
    // Job data, such as the commands of a crontab, are for nobody else.
    expect(statSync(file).mode & 0o077).toBe(0)
    expect(await run(['migrate', '--store', file])).toEqual({
      code: 0,
      out: `${file}: nothing to do\n`,
      err: '',
    })
    const again = await run(['migrate', '--store', file, '--prefix', 'b_'])
    expect(again.out).toBe(`${file}: applied version 1, 2\n`)
  })

  test('refuses a place where no file can be, as other commands refuse one where none is', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'file')
    writeFileSync(file, '')
    for (const place of [join(folder, 'no', 'jobs.db'), join(file, 'jobs.db')]) {
      expect(await run(['migrate', '--store', place])).toMatchObject({
        code: 2,
        err: /^quartz-ts: The folder of/,
      })
    }
    expect(await run(['migrate', '--store', folder])).toMatchObject({ code: 2, err: /is a folder/ })
  })

  test('prints a script that makes the same tables', async () => {
    const [migrated, printed] = [join(temporaryFolder(), 'a.db'), join(temporaryFolder(), 'b.db')]
    await run(['migrate', '--store', migrated])
    const { code, out } = await run(['migrate', '--store', printed, '--print', '--empty'])
    expect(code).toBe(0)
    expect(existsSync(printed)).toBe(false)
    const database = new Database(printed)
    database.exec(out)
    database.close()
    expect(columnCount(printed)).toBe(columnCount(migrated))
    expect((await run(['migrate', '--store', printed])).out).toBe(`${printed}: nothing to do\n`)
  })

  test('prints what a database lacks, and nothing where nothing is missing', async () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const print = ['migrate', '--store', file, '--print']
    expect(await run(print)).toMatchObject({ code: 2, err: /There is no file/ })
    await run(['migrate', '--store', file])
    expect(await run(print)).toEqual({ code: 0, out: '-- Nothing is missing.\n', err: '' })
    const database = new Database(file)
    onTestFinished(() => {
      database.close()
    })
    database.exec('DROP INDEX idx_qrtz_t_acquire')
    const { out } = await run(print)
    expect(out.match(/^[A-Z]+ \w+/gm)).toEqual(['CREATE INDEX'])
    database.exec(out)
    expect((await run(print)).out).toBe('-- Nothing is missing.\n')
    database.exec('UPDATE qrtz_schema_version SET version = 99, breaking = 1 WHERE version = 2')
    expect(await run(print)).toMatchObject({ code: 1, err: /has schema version 99/ })
  })

  test('takes the store and its tables from the settings', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'jobs.db')
    const config = join(folder, 'quartz-ts.config.mjs')
    writeFileSync(config, `export default { jobStore: 'sqlite:${file}', tablePrefix: 'b_' }`)
    expect(await run(['migrate', '--config', config, '--print', '--empty'])).toMatchObject({
      code: 0,
      out: /CREATE TABLE IF NOT EXISTS b_triggers/,
    })
    expect(await run(['migrate', '--config', config])).toMatchObject({ code: 0, out: /applied version 1, 2/ })
    expect(await run(['migrate', '--store', file, '--prefix', 'b_'])).toMatchObject({ out: /nothing to do/ })
    const made = join(folder, 'made.mjs')
    const store = '{ initialize() {}, acquireNextTriggers() {} }'
    writeFileSync(made, `export default { jobStore: ${store} }`)
    expect(await run(['migrate', '--config', made])).toMatchObject({ code: 2, err: /has no tables/ })
  })

  test('prints the statements for PostgreSQL without connecting', async () => {
    const { out } = await run([
      'migrate',
      '--store',
      'postgres://nowhere',
      '--print',
      '--empty',
      '--schema',
      'jobs',
    ])
    expect(out).toContain('CREATE TABLE IF NOT EXISTS "jobs".qrtz_triggers (')
    expect(out).toContain('job_data bytea')
    const adopted = await run(['migrate', '--store', 'postgres://nowhere', '--print', '--adopt'])
    expect(adopted.out).not.toContain('CREATE TABLE IF NOT EXISTS qrtz_triggers')
    expect(adopted.out).toContain('ALTER TABLE qrtz_triggers ADD COLUMN misfire_orig_fire_time bigint')
  })

  test.each([
    [[], /'migrate' needs --store/],
    [['jobs.db'], /'migrate' takes options only, got 'jobs.db'/],
    [['--store', 'a.db', '--schema', 'b'], /--schema is for PostgreSQL only/],
    [['--store', 'a.db', '--adopt'], /--adopt goes with --print/],
    [['--store', 'a.db', '--empty'], /--empty goes with --print/],
    [['--store', 'a.db', '--print', '--empty', '--adopt'], /give one of them/],
  ])('%j is a usage error', async (args, message) => {
    const { code, err } = await run(['migrate', ...args])
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  test('says in words what is wrong with a store', async () => {
    const file = join(temporaryFolder(), 'jobs.db')
    writeFileSync(file, 'no database at all, but long enough to be looked at '.repeat(20))
    for (const args of [['migrate'], ['jobs'], ['status'], ['pause', 'job', 'daily'], ['export']]) {
      const { code, err } = await run([...args, '--store', file])
      expect([args, code, err]).toMatchObject([args, 2, /is not a SQLite database/])
    }
    const bad = await run(['migrate', '--store', file, '--prefix', 'a-b'])
    expect(bad.code).toBe(2)
    expect(bad.err).toContain("--prefix: sqliteJobStore: 'tablePrefix' must be a plain SQL name")
  })

  test('names a server that is away, without its password', async () => {
    const { code, err, out } = await run(['migrate', '--store', 'postgres://me:secret@127.0.0.1:1/x'])
    expect(code).toBe(5)
    expect(err).toMatch(/^quartz-ts: /)
    expect(err + out).not.toContain('secret')
  })
})
