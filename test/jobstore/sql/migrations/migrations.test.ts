import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sqlNames } from '../../../../src/jobstore/sql/kernel/sql-names.ts'
import type { SqlRunner } from '../../../../src/jobstore/sql/kernel/sql-runner.ts'
import { all, run } from '../../../../src/jobstore/sql/kernel/statement.ts'
import { migrate, migrateAtStart, requireSchema } from '../../../../src/jobstore/sql/migrations/migrate.ts'
import {
  emptySchema,
  newestSchemaVersion,
  planMigrations,
  schemaOfQuartz,
  tablesToInspect,
  versionTable,
} from '../../../../src/jobstore/sql/migrations/plan-migrations.ts'
import { ManualClock } from '../../../../src/time/manual-clock.ts'
import { sqliteRunner, sqliteWords, temporaryFolder } from '../../../support/sqlite.ts'
import { statementsOfStep } from '../../../support/step-statements.ts'

const { names } = sqliteWords

/** Every table with its columns, and every index, as the engine describes them. */
async function describeSchema(runner: SqlRunner): Promise<unknown> {
  return runner.read(function* () {
    const column = `c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk`
    const text = `SELECT m.type, m.name, group_concat(${column}) AS columns
      FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c WHERE m.name NOT LIKE 'sqlite%'
      GROUP BY m.type, m.name ORDER BY m.type, m.name`
    return yield* all({ text, values: [] })
  })
}

const execute = async (runner: SqlRunner, statements: readonly string[]): Promise<void> => {
  await runner.transact(
    function* () {
      for (const text of statements) yield* run({ text, values: [] })
    },
    { lock: 'rows' },
  )
}

describe('migrations on SQLite', () => {
  test('make all tables once', async () => {
    const runner = await sqliteRunner(':memory:')
    expect(await migrate(runner, sqliteWords, 5)).toEqual([1, 2])
    expect(await migrate(runner, sqliteWords, 5)).toEqual([])
    const rows = await runner.read(() => all({ text: `SELECT * FROM ${names.schemaVersion}`, values: [] }))
    expect(rows).toEqual([
      { version: 1, breaking: 1, applied_time: 5 },
      { version: 2, breaking: 0, applied_time: 5 },
    ])
    await requireSchema(runner, sqliteWords)
  })

  test('keep the rows of schedules in the index of their key', async () => {
    const runner = await sqliteRunner(':memory:')
    await migrate(runner, sqliteWords, 5)
    const text = "SELECT name FROM pragma_table_list WHERE wr AND name NOT LIKE 'sqlite%' ORDER BY name"
    expect(await runner.read(() => all({ text, values: [] }))).toEqual(
      [names.cronTriggers, names.simpleTriggers, names.simpropTriggers].map((name) => ({ name })),
    )
  })

  test('give the same schema whether they are run or printed', async () => {
    const [migrated, printed] = [await sqliteRunner(':memory:'), await sqliteRunner(':memory:')]
    await migrate(migrated, sqliteWords, 5)
    await execute(migrated, [`DROP TABLE ${names.schemaVersion}`])
    await execute(printed, planMigrations(sqliteWords, emptySchema).flatMap(statementsOfStep))
    expect(await describeSchema(printed)).toEqual(await describeSchema(migrated))
  })

  test('are applied once when ten nodes start at once', async () => {
    const filename = join(temporaryFolder(), 'a.db')
    const runners = await Promise.all(Array.from({ length: 10 }, () => sqliteRunner(filename)))
    const applied = await Promise.all(runners.map((runner) => migrate(runner, sqliteWords, 5)))
    expect(applied.flat()).toEqual([1, 2])
  })

  test('end where looks are answered by a replica that lags', async () => {
    const [primary, replica] = [await sqliteRunner(':memory:'), await sqliteRunner(':memory:')]
    const lagging: SqlRunner = {
      transact: (begin) => primary.transact(begin),
      read: (begin) => replica.read(begin),
      close: () => Promise.resolve(),
    }
    expect(await migrate(lagging, sqliteWords, 5)).toEqual([1, 2])
    expect(await migrate(lagging, sqliteWords, 5)).toEqual([])
    await requireSchema(primary, sqliteWords)
  })

  test('add to tables that Quartz made what they lack, and keep the rows', async () => {
    const [adopted, fresh] = [await sqliteRunner(':memory:'), await sqliteRunner(':memory:')]
    await execute(adopted, [
      `CREATE TABLE ${names.jobs} (sched_name varchar(120) NOT NULL, job_name varchar(200) NOT NULL,
        job_group varchar(200) NOT NULL, description varchar(250), job_class_name varchar(250) NOT NULL,
        is_durable boolean NOT NULL, is_nonconcurrent boolean NOT NULL, is_update_data boolean NOT NULL,
        requests_recovery boolean NOT NULL, job_data blob, PRIMARY KEY (sched_name, job_name, job_group))`,
      `INSERT INTO ${names.jobs} VALUES ('s', 'j', 'g', NULL, 'C', 1, 0, 0, 0, NULL)`,
    ])
    await migrate(adopted, sqliteWords, 5)
    await migrate(fresh, sqliteWords, 5)
    const [job] = await adopted.read(() => all({ text: `SELECT * FROM ${names.jobs}`, values: [] }))
    expect(job).toMatchObject({ job_name: 'j', timeout_ms: null, node_affinity: null })
    for (const table of tablesToInspect) {
      const columns = { text: sqliteWords.schema.columnsOf([names[table]]), values: [] }
      const [left, right] = await Promise.all(
        [adopted, fresh].map((runner) => runner.read(() => all(columns))),
      )
      expect(left).toEqual(right)
    }
  })

  test('that Quartz has made everything: only additions, our tables and our indexes are planned', () => {
    const [plan] = planMigrations(sqliteWords, schemaOfQuartz)
    const words = statementsOfStep(plan).map((statement) => statement.split(' ', 8).slice(0, 6).join(' '))
    expect(words.filter((statement) => statement.startsWith('CREATE TABLE'))).toHaveLength(2)
    expect(words.filter((statement) => statement.startsWith('ALTER TABLE'))).toHaveLength(10)
    expect(words.filter((statement) => statement.startsWith('CREATE INDEX'))).toHaveLength(2)
    expect(words.filter((statement) => statement.startsWith('DROP'))).toEqual([])
  })

  test('a prefix makes a second set of tables in one database', async () => {
    const runner = await sqliteRunner(':memory:')
    await migrate(runner, sqliteWords, 5)
    const other = { ...sqliteWords, names: sqlNames('test', { prefix: 'Other_' }) }
    expect(await migrate(runner, other, 5)).toEqual([1, 2])
    await requireSchema(runner, other)
  })
})

describe('a schema of another release', () => {
  test('of version 1 is brought up to date with its rows, and made as a new one is', async () => {
    const [old, fresh] = [await sqliteRunner(':memory:'), await sqliteRunner(':memory:')]
    const [first] = planMigrations(sqliteWords, emptySchema)
    await execute(old, [
      ...versionTable(sqliteWords),
      ...statementsOfStep(first),
      `INSERT INTO ${names.schemaVersion} VALUES (1, 1, 4)`,
      `INSERT INTO ${names.pausedGroups} VALUES ('s', 'g')`,
    ])
    expect(await migrate(old, sqliteWords, 5)).toEqual([2])
    await migrate(fresh, sqliteWords, 5)
    expect(await describeSchema(old)).toEqual(await describeSchema(fresh))
    const groups = { text: `SELECT * FROM ${names.pausedGroups}`, values: [] }
    expect(await old.read(() => all(groups))).toHaveLength(1)
  })

  test('too old, or none, is refused where the store may not migrate', async () => {
    const runner = await sqliteRunner(':memory:')
    await expect(requireSchema(runner, sqliteWords)).rejects.toMatchObject({
      code: 'ERR_SCHEMA_TOO_OLD',
      message: expect.stringContaining('quartz-ts migrate') as string,
    })
  })

  test('that another node has made while the own transaction was cut off is no reason to warn', async () => {
    const runner = await sqliteRunner(':memory:')
    const cutOff: SqlRunner = {
      transact: async () => {
        await migrate(runner, sqliteWords, 5)
        throw new Error('cut off')
      },
      read: (begin) => runner.read(begin),
      close: () => runner.close(),
    }
    const warned: string[] = []
    const note = (_: object, message: string): number => warned.push(message)
    const logger = { debug: () => {}, info: note, warn: note, error: note }
    await migrateAtStart(cutOff, sqliteWords, { clock: new ManualClock(), logger })
    expect(warned).toEqual([])
    await requireSchema(runner, sqliteWords)
  })

  test.each([
    [true, 'ERR_SCHEMA_TOO_NEW'],
    [false, null],
  ])('newer, breaking %s: %s', async (breaking, code) => {
    const runner = await sqliteRunner(':memory:')
    await migrate(runner, sqliteWords, 5)
    const newer = newestSchemaVersion + 1
    await execute(runner, [`INSERT INTO ${names.schemaVersion} VALUES (${newer}, ${Number(breaking)}, 9)`])
    const outcomes = await Promise.allSettled([
      requireSchema(runner, sqliteWords),
      migrate(runner, sqliteWords, 5),
    ])
    for (const outcome of outcomes) {
      if (code === null) expect(outcome.status).toBe('fulfilled')
      else expect(outcome).toMatchObject({ reason: { code } })
    }
  })
})
