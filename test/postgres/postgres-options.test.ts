import pg from 'pg'
import { postgresJobStore } from 'quartz-ts/postgres'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { skipLockedLocking } from '../../src/jobstore/postgres/locking.ts'
import {
  type PostgresJobStoreOptions,
  resolvePostgresOptions,
} from '../../src/jobstore/postgres/postgres-options.ts'
import type { PostgresConnection, PostgresPool } from '../../src/jobstore/postgres/postgres-source.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'

const connectionString = 'postgres://somebody:secret@localhost/jobs'

describe('options of the PostgreSQL job store', () => {
  test('take what the types of pg describe, without naming them', () => {
    expectTypeOf<pg.Pool>().toExtend<PostgresPool>()
    expectTypeOf<pg.ClientConfig>().toExtend<PostgresConnection>()
    expectTypeOf<keyof PostgresConnection>().toEqualTypeOf<keyof pg.ClientConfig>()
  })

  test('have defaults, and are frozen', () => {
    const resolved = resolvePostgresOptions({ connectionString })
    expect(resolved).toMatchObject({
      source: { connectionString },
      poolSize: 10,
      locking: 'skipLocked',
      listen: true,
      preparedStatements: true,
      connectTimeoutMs: 10_000,
      statementTimeoutMs: 60_000,
      lockTimeoutMs: 10_000,
      lockWaitWarningMs: 1000,
      migrate: 'onStart',
      jobData: 'json',
      jobGroupLimits: new Map(),
    })
    expect(resolved.names.jobs).toBe('qrtz_job_details')
    expect(Object.isFrozen(resolved)).toBe(true)
  })

  test('say how to connect in one of four ways', async () => {
    const connection = {
      host: 'db',
      password: () => Promise.resolve('secret'),
      ssl: { rejectUnauthorized: true },
    }
    const pool = new pg.Pool({ connectionString })
    expect(resolvePostgresOptions({ connection }).source).toBe(connection)
    expect(resolvePostgresOptions({ pool }).source).toBe(pool)
    expect(resolvePostgresOptions({}).source).toEqual({})
    await pool.end()
  })

  test.each([
    'postgresql://db/jobs',
    'POSTGRES:///jobs?host=/tmp',
    '/var/run/postgresql jobs',
    'socket:/tmp?db=jobs',
  ])('take %s, as pg does', (place) => {
    expect(resolvePostgresOptions({ connectionString: place }).source).toEqual({ connectionString: place })
  })

  test('name schema and prefix of the tables', () => {
    const { names } = resolvePostgresOptions({ schema: 'jobs', tablePrefix: 'Q_' })
    expect(names.triggers).toBe('"jobs".Q_triggers')
  })

  test('have nodes that write the prefix in another case wait for each other', () => {
    const locksOf = (prefix: string): readonly string[] =>
      skipLockedLocking({ names: sqlNames('test', { prefix }), schedulerName: 'a' }).take('cluster')
    expect(locksOf('QRTZ_')).toEqual(locksOf('qrtz_'))
    expect(locksOf('other_')).not.toEqual(locksOf('qrtz_'))
  })

  test.each<[string, unknown, string]>([
    ['an unknown option', { conectionString: connectionString }, "Did you mean 'connectionString'?"],
    ['two ways to connect', { connectionString, connection: {} }, 'give one of them'],
    ['an empty connection string', { connectionString: '' }, 'must be a URL'],
    [
      'a URL of another database',
      { connectionString: 'mysql://me:secret@db/jobs' },
      "begins with 'mysql://'",
    ],
    ['what is no URL', { connectionString: 'me:secret@db' }, 'no URL; it must be a URL of PostgreSQL, as in'],
    ['a connection string that is none', { connectionString: 5 }, 'got 5'],
    ['a wait without a limit', { connectWaitMs: -1 }, 'from 0 to 3600000'],
    ['a connection that is no object', { connection: null }, 'got null'],
    ['a pool that is none', { pool: {} }, 'must be a pool'],
    ['a size of a pool of yours', { pool: new pg.Pool(), poolSize: 5 }, 'set it there'],
    ['a pool that reads binary', { pool: new pg.Pool({ binary: true } as object) }, 'binary form'],
    ['an empty pool', { poolSize: 0 }, 'from 1 to 1000'],
    ['a schema that is no name', { schema: 'a; drop' }, "'schema' must be"],
    ['a prefix that is no name', { tablePrefix: '"' }, "'tablePrefix' must be"],
    ['an unknown locking', { locking: 'none' }, "'skipLocked' or 'quartzLocks'"],
    ['a flag that is none', { listen: 'yes' }, 'true or false'],
    ['a negative time', { lockTimeoutMs: -1 }, 'from 0 to 3600000'],
    ['unlimited connecting', { connectTimeoutMs: 0 }, 'from 1 to 600000'],
    ['an unknown way to migrate', { migrate: 'always' }, "'onStart' or 'never'"],
    ['a limit of nothing', { jobGroupLimits: { reports: 0 } }, 'from 1 to 10000'],
    ['an unknown encoding', { jobData: 'java' }, "'json' or 'properties'"],
  ])('refuse %s', (_, options, message) => {
    const resolve = (): unknown => resolvePostgresOptions(options as PostgresJobStoreOptions)
    expect(resolve).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }))
    expect(resolve).toThrow(message)
    expect(resolve).not.toThrow('secret')
  })

  test.each([
    ['skipLocked', 30_000, 30_000],
    ['quartzLocks', 30_000, 90_000],
    ['skipLocked', 0, 0],
  ] as const)(
    'under %s say how long a wait for locks of %i ms may last',
    (locking, lockTimeoutMs, waitMs) => {
      const { capabilities } = postgresJobStore({ connectionString, locking, lockTimeoutMs })
      expect(capabilities.longestLockWaitMs).toBe(waitMs)
    },
  )
})
