import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'
import {
  type SqlDatabase,
  type SqlDatabaseRunner,
  type SqlDialect,
  type SqlProgram,
  sqlJobStore,
} from 'quartz-ts/spi'
import { sqliteDialect, sqliteSchema } from 'quartz-ts/sqlite'
import { jobStoreConformance } from 'quartz-ts/testing'
import { describe, expect, test } from 'vitest'
import { systemIds } from '../../../src/core/ids.ts'
import { openSqlite } from '../../../src/jobstore/sqlite/sqlite-runner.ts'
import { Testbed } from '../../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../../src/time/clock.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { ownSqlite } from '../../support/own-databases.ts'
import { sqliteCapabilities, temporaryFolder } from '../../support/sqlite.ts'

/** A database as users of `sqlJobStore` write one, over the words and the runner of the SQLite store. */
function databaseAt(filename: string): SqlDatabase & { readonly opened: () => number } {
  let connections = 0
  return {
    name: 'MyJobStore',
    persistent: filename !== ':memory:',
    dialect: sqliteDialect,
    schema: sqliteSchema,
    async connect() {
      const runner = await openSqlite(
        { filename, synchronous: 'normal' },
        { clock: systemClock, ids: systemIds, busyTimeoutMs: 5_000 },
      )
      connections++
      return {
        transact: (begin) => runner.transact(begin),
        read: (begin) => runner.read(begin),
        close: async () => {
          connections--
          await runner.close()
        },
      }
    },
    opened: () => connections,
  }
}

test('a store says how long its database may wait for locks', () => {
  const waitOf = (longestLockWaitMs?: number): number | undefined =>
    sqlJobStore({ ...databaseAt(':memory:'), ...(longestLockWaitMs !== undefined && { longestLockWaitMs }) })
      .capabilities.longestLockWaitMs
  expect(waitOf(20_000)).toBe(20_000)
  expect(waitOf()).toBe(0)
  expect(() => waitOf(-1)).toThrow(expect.objectContaining({ field: 'longestLockWaitMs' }) as Error)
})

// What the guide shows: the members that a dialect must have.
const plainDialect = { ...sqliteDialect, runsRowByRow: false, excludesWriters: false, keyedTable: '' }
const dialects: readonly (readonly [string, SqlDialect])[] = [
  ['sqliteDialect', sqliteDialect],
  ['a dialect that takes sets of rows', plainDialect],
]

describe.each(dialects)('a store over %s and a runner of the user conforms', (_name, dialect) => {
  const connections = new Map<string, Database.Database>()
  const cases = jobStoreConformance({
    name: 'own-database',
    create: (dataId) => {
      const connection = connections.get(dataId) ?? new Database(':memory:')
      connections.set(dataId, connection)
      return sqlJobStore(ownSqlite(connection, dialect))
    },
    destroy: (dataId) => {
      connections.get(dataId)?.close()
      connections.delete(dataId)
    },
    capabilities: sqliteCapabilities,
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

describe('sqlJobStore', () => {
  const runs: string[] = []
  const job = defineJob('job', ({ recovering }) => {
    runs.push(recovering ? 'recovering' : 'planned')
  })

  test('makes the tables, gives its connections back, and finds the next time what it stored', async () => {
    const database = databaseAt(join(temporaryFolder(), 'a.db'))
    const options = { tablePrefix: 'my_', migrate: 'never' } as const
    const early = createScheduler({ jobs: [job], jobStore: sqlJobStore(database, options) })
    await expect(early).rejects.toMatchObject({ code: 'ERR_SCHEMA_TOO_OLD' })
    expect(await sqlJobStore(database, options).migrate()).not.toEqual([])
    expect(database.opened()).toBe(0)

    await using first = await createScheduler({ jobs: [job], jobStore: sqlJobStore(database, options) })
    const trigger = TriggerBuilder.newTrigger().withIdentity('once').startNow().build()
    await first.scheduleJob(JobBuilder.newJob(job).withIdentity('a').build(), trigger)
    await first.shutdown()
    expect(runs).toEqual([])

    await using second = await createScheduler({ jobs: [job], jobStore: sqlJobStore(database, options) })
    await second.start()
    await second.idle()
    expect(runs).toEqual(['planned'])
    await second.shutdown()
    expect(database.opened()).toBe(0)
  })

  test('has no part in transactions of the user, and says so', async () => {
    const jobStore = sqlJobStore(databaseAt(':memory:'))
    expect(jobStore.capabilities).toMatchObject({ sharedTransactions: false, clustered: false })
    await using scheduler = await createScheduler({ jobs: [job], jobStore, logger: false })
    expect(() => scheduler.withTransaction({})).toThrow(
      expect.objectContaining({ code: 'ERR_NOT_SUPPORTED' }) as Error,
    )
  })

  test('says what a runner leaves out that answers for all runs of a statement together', async () => {
    const database = ownSqlite(new Database(':memory:'))
    const store = sqlJobStore({
      ...database,
      connect: async () => withoutChangesOfEach(await database.connect()),
    })
    const bed = new Testbed(store, new ManualClock(), 'node')
    await store.initialize(bed.context)
    await bed.schedule('t', { everyMs: 1000 })
    await expect(bed.complete(await bed.start('t'))).rejects.toThrow("'changesOfEach'")
    await store.shutdown()
  })
})

function withoutChangesOfEach(runner: SqlDatabaseRunner): SqlDatabaseRunner {
  return { ...runner, transact: (begin, options) => runner.transact(() => withoutIt(begin()), options) }
}

function* withoutIt<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
  let step = program.next()
  while (step.done !== true) {
    const { rows, changes } = yield step.value
    step = program.next({ rows, changes })
  }
  return step.value
}
