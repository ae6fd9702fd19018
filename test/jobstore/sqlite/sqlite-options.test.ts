import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { resolveSqliteOptions } from '../../../src/jobstore/sqlite/sqlite-options.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

function openDatabase(): Database.Database {
  const database = new Database(':memory:')
  onTestFinished(() => {
    database.close()
  })
  return database
}

describe('options of the SQLite job store', () => {
  test('have defaults, and are frozen', () => {
    const options = resolveSqliteOptions({ filename: 'jobs.db' })
    expect(options).toMatchObject({
      filename: 'jobs.db',
      database: null,
      synchronous: 'normal',
      busyTimeoutMs: 5_000,
      migrate: 'onStart',
      jobData: 'json',
      jobGroupLimits: new Map(),
    })
    expect(options.names.triggers).toBe('qrtz_triggers')
    expect(Object.isFrozen(options)).toBe(true)
  })

  test("take a user's open connection instead of a file", () => {
    const database = openDatabase()
    expect(resolveSqliteOptions({ database, tablePrefix: 'my_' })).toMatchObject({
      database,
      filename: ':memory:',
    })
  })

  test.each<[object, string, RegExp]>([
    [{}, 'filename', /needs either 'filename' or 'database'/],
    [{ filename: '' }, 'filename', /'filename' must be a path or ':memory:', got ''/],
    [{ filename: 5 }, 'filename', /got 5/],
    [{ fileName: 'a.db' }, 'fileName', /unknown option 'fileName'. Did you mean 'filename'\?/],
    [{ filename: 'a.db', synchronous: 'off' }, 'synchronous', /must be one of normal, full, got 'off'/],
    [{ filename: 'a.db', busyTimeoutMs: -1 }, 'busyTimeoutMs', /from 0 to 600000, got -1/],
    [{ filename: 'a.db', tablePrefix: 'a;b' }, 'tablePrefix', /must be a plain SQL name/],
    [{ filename: 'a.db', migrate: true }, 'migrate', /must be one of onStart, never, got true/],
    [{ filename: 'a.db', jobData: 'java' }, 'jobData', /must be one of json, properties, got 'java'/],
    [{ filename: 'a.db', jobGroupLimits: 5 }, 'jobGroupLimits', /an object of numbers by job group, got 5/],
    [{ filename: 'a.db', jobGroupLimits: [2] }, 'jobGroupLimits', /by job group, got an array/],
    [{ filename: 'a.db', jobGroupLimits: new Map([['g', 1]]) }, 'jobGroupLimits', /by job group/],
    [
      { filename: 'a.db', jobGroupLimits: { '': 1 } },
      'jobGroupLimits',
      /names '', which cannot be a job group/,
    ],
    [{ filename: 'a.db', jobGroupLimits: { g: 0 } }, 'jobGroupLimits.g', /from 1 to 10000, got 0/],
    [{ filename: 'a.db', jobGroupLimits: { g: 10_001 } }, 'jobGroupLimits.g', /got 10001/],
    [{ filename: 'a.db', jobGroupLimits: { g: '2' } }, 'jobGroupLimits.g', /got '2'/],
    [{ database: {} }, 'database', /must be an open better-sqlite3 database/],
  ])('%j is refused', (options, field, message) => {
    const resolve = (): unknown => resolveSqliteOptions(options)
    expect(resolve).toThrow(message)
    expect(resolve).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', field }) as Error)
  })

  test('refuse both a file and a connection, a closed connection, and settings that are the connection has', () => {
    const database = openDatabase()
    expect(() => resolveSqliteOptions({ database, filename: 'a.db' })).toThrow(/needs either/)
    expect(() => resolveSqliteOptions({ database, synchronous: 'full' })).toThrow(
      /is up to the given database/,
    )
    database.close()
    expect(() => resolveSqliteOptions({ database })).toThrow(/must be an open better-sqlite3 database/)
  })
})

describe('options of', () => {
  const wrong: readonly [object, string, RegExp][] = [
    [{ onLockwait: () => {} }, 'onLockwait', /^migrate: unknown option .* Did you mean 'onLockWait'/],
    [{ onLockWait: true }, 'onLockWait', /must be a function, got true/],
  ]
  test.each(wrong)('migrate: %j is refused', async (options, field, message) => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const migrated = sqliteJobStore({ filename }).migrate(options)
    await expect(migrated).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', field })
    await expect(migrated).rejects.toThrow(message)
    expect(existsSync(filename)).toBe(false)
  })

  test.each([
    [{ of: 'empty' }, 'of', /^migrationScript: unknown option/],
    [{ for: 'java' }, 'for', /one of 'empty', 'quartz', got 'java'/],
  ])('migrationScript: %j is refused', async (options, field, message) => {
    const script = sqliteJobStore({ filename: ':memory:' }).migrationScript(options as object)
    await expect(script).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', field })
    await expect(script).rejects.toThrow(message)
  })
})
