import { createScheduler } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { postgresDialect, postgresSchema } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import { all } from '../../src/jobstore/sql/kernel/statement.ts'
import { migrate, requireSchema } from '../../src/jobstore/sql/migrations/migrate.ts'
import {
  emptySchema,
  newestSchemaVersion,
  planMigrations,
  type SchemaVocabulary,
  schemaOfQuartz,
  versionTable,
} from '../../src/jobstore/sql/migrations/plan-migrations.ts'
import { run } from '../cli/fake-host.ts'
import { latch } from '../support/latch.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'
import { quartzTables } from '../support/quartz-tables.ts'
import { sqliteRunner, sqliteWords } from '../support/sqlite.ts'
import { statementsOfStep } from '../support/step-statements.ts'

function words(options: { prefix?: string; schema?: string } = {}): SchemaVocabulary {
  return { dialect: postgresDialect, schema: postgresSchema, names: sqlNames('test', options) }
}

/** Every column of the tables of a schema: `qrtz_triggers.priority integer null`. */
async function columns(database: TestDatabase, schema = 'public'): Promise<string[]> {
  const rows = await database.query(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
        a.attnotnull AS required,
        (SELECT collname FROM pg_collation WHERE oid = a.attcollation) AS collation
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = CAST($1 AS regnamespace) AND c.relkind = 'r' ORDER BY 1, 2`,
    [schema],
  )
  return rows.map(({ table, name, type, required, collation }) =>
    [
      `${String(table)}.${String(name)}`,
      type,
      collation ?? '-',
      required === true ? 'required' : 'null',
    ].join(' '),
  )
}

async function indexes(database: TestDatabase): Promise<Record<string, unknown>[]> {
  return database.query(
    `SELECT indexname, replace(indexdef, 'public.', '') AS definition FROM pg_indexes
      WHERE schemaname = 'public' ORDER BY 1`,
  )
}

/** Quartz's types, by the words of either engine. */
const plainType = (type: string): string =>
  type.replace('character varying', 'varchar').replace('bytea', 'blob').replace(' COLLATE "C"', '')

function compared(
  ours: readonly string[],
  theirs: readonly string[],
): Record<'both' | 'sqliteAlone' | 'postgresAlone', readonly string[]> {
  return {
    both: ours.filter((name) => theirs.includes(name)),
    sqliteAlone: theirs.filter((name) => !ours.includes(name)),
    postgresAlone: ours.filter((name) => !theirs.includes(name)),
  }
}

describe('migrations on PostgreSQL', () => {
  test('make all tables once, in either locking mode', async () => {
    for (const locking of ['skipLocked', 'quartzLocks'] as const) {
      await using database = await freshDatabase()
      await using store = testRunner(database.connectionString, { locking })
      expect(await migrate(store.runner, words(), 5)).toEqual([1, 2])
      expect(await migrate(store.runner, words(), 5)).toEqual([])
      expect(await database.query('SELECT * FROM qrtz_schema_version')).toEqual([
        { version: 1, breaking: true, applied_time: '5' },
        { version: 2, breaking: false, applied_time: '5' },
      ])
      await requireSchema(store.runner, words())
    }
  })

  test('give the tables and columns that SQLite gets, with the same types, keys and most indexes', async () => {
    await using database = await freshDatabase()
    await using store = testRunner(database.connectionString)
    await migrate(store.runner, words(), 5)
    const sqlite = await sqliteRunner(':memory:')
    await migrate(sqlite, sqliteWords, 5)
    const query = (text: string): Promise<readonly Record<string, unknown>[]> =>
      sqlite.read(() => all({ text, values: [] }))
    const theirs = await query(
      `SELECT m.name || '.' || c.name || ' ' || lower(c.type)
          || CASE WHEN c."notnull" THEN ' required' ELSE ' null' END AS line
        FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.name`,
    )
    const ours = (await columns(database)).map((line) =>
      plainType(line).replace(/ (C|default|-) (?=\w+$)/, ' '),
    )
    expect(ours.toSorted()).toEqual(theirs.map(({ line }) => String(line)).toSorted())
    const theirIndexes = await query(
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`,
    )
    const ourIndexes = (await indexes(database))
      .map(({ indexname }) => String(indexname))
      .filter((name) => !name.endsWith('_pkey'))
    // The history is the exception: its lists of one job and of one trigger are found in another way on each engine.
    const { both, sqliteAlone, postgresAlone } = compared(
      ourIndexes,
      theirIndexes.map(({ name }) => String(name)),
    )
    expect(both.length).toBeGreaterThan(10)
    expect(sqliteAlone).toEqual(['idx_qrtz_eh_names'])
    expect(postgresAlone).toEqual(['idx_qrtz_eh_job', 'idx_qrtz_eh_trigger'])
  })

  test('compare keys by code point, whatever the language of the database', async () => {
    await using database = await freshDatabase()
    await using store = testRunner(database.connectionString)
    await migrate(store.runner, words(), 5)
    const keys = (await columns(database)).filter(
      (line) =>
        /_(name|group) |\.(entry_id|fire_instance_id) /.test(line) &&
        // Whatever a caller named: it is looked for as it is, and nothing is in its order.
        !/^qrtz_audit\.(target|node)_/.test(line),
    )
    expect(keys.length).toBeGreaterThan(30)
    const others = keys.filter((line) => !line.includes(' C ') && !line.includes('job_class_name'))
    expect(others).toEqual([])
  })

  test('are printed as a script that gives the same schema', async () => {
    await using migrated = await freshDatabase()
    await using printed = await freshDatabase()
    await using store = testRunner(migrated.connectionString)
    await migrate(store.runner, words(), 5)
    const steps = planMigrations(words(), emptySchema).flatMap(statementsOfStep)
    for (const statement of [...versionTable(words()), ...steps]) await printed.query(statement)
    expect(await columns(printed)).toEqual(await columns(migrated))
    expect(await indexes(printed)).toEqual(await indexes(migrated))
  })

  test('are applied once when ten nodes start at once', async () => {
    await using database = await freshDatabase()
    const stores = Array.from({ length: 10 }, (_, index) =>
      testRunner(database.connectionString, {
        poolSize: 1,
        locking: index % 2 === 0 ? 'skipLocked' : 'quartzLocks',
      }),
    )
    const applied = await Promise.all(stores.map(({ runner }) => migrate(runner, words(), 5)))
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
    expect(applied.flat().toSorted()).toEqual([1, 2])
  })

  test('are undone whole when a statement fails', async () => {
    await using database = await freshDatabase()
    // The row type of the table would have this name.
    await database.query("CREATE TYPE qrtz_execution_history AS ENUM ('a')")
    await using store = testRunner(database.connectionString)
    await expect(migrate(store.runner, words(), 5)).rejects.toMatchObject({ code: 'ERR_DATABASE' })
    expect(await columns(database)).toEqual([])
    await database.query('DROP TYPE qrtz_execution_history')
    expect(await migrate(store.runner, words(), 5)).toEqual([1, 2])
  })

  test('make and use a schema, beside another one and another prefix', async () => {
    await using database = await freshDatabase()
    await using store = testRunner(database.connectionString)
    // The last schema has the name of a keyword.
    const given = [{}, { schema: 'Jobs' }, { schema: 'Jobs', prefix: 'B_' }, { schema: 'User' }]
    const places = given.map((options) => words(options))
    for (const place of places) {
      expect(await migrate(store.runner, place, 5)).toEqual([1, 2])
      await requireSchema(store.runner, place)
    }
    const inPublic = (await columns(database)).length
    expect((await columns(database, 'jobs')).length).toBe(inPublic * 2)
    expect((await columns(database, 'user')).length).toBe(inPublic)
  })

  test('are run by the command, once', async () => {
    await using database = await freshDatabase()
    const command = ['migrate', '--store', database.connectionString, '--schema', 'jobs']
    const first = await run(command)
    expect(first).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/: applied version 1, 2\n$/) as string,
    })
    expect(first.out).not.toContain('@')
    expect((await run(command)).out).toMatch(/: nothing to do\n$/)
  })

  test('need no right to create schemas when the schema is there', async () => {
    await using database = await freshDatabase()
    const user = `plain_${new URL(database.connectionString).pathname.slice(-12)}`
    await database.query(`CREATE ROLE ${user} LOGIN PASSWORD 'x'`)
    await database.query(`CREATE SCHEMA jobs AUTHORIZATION ${user}`)
    const url = new URL(database.connectionString)
    url.username = user
    url.password = 'x'
    try {
      await using store = testRunner(url.href)
      expect(await migrate(store.runner, words({ schema: 'jobs' }), 5)).toEqual([1, 2])
    } finally {
      await database.query(`DROP OWNED BY ${user}`)
      await database.query(`DROP ROLE ${user}`)
    }
  })
})

describe('a database that Java Quartz made', () => {
  test('is adopted: what it lacks is added, nothing is dropped, its rows stay', async () => {
    await using database = await freshDatabase()
    await using fresh = await freshDatabase()
    for (const statement of quartzTables) await database.query(statement)
    await database.query(
      `INSERT INTO QRTZ_JOB_DETAILS VALUES ('s', 'j', 'g', NULL, 'org.example.A', true, false, false, false, NULL)`,
    )
    const before = { columns: await columns(database), indexes: await indexes(database) }
    await using store = testRunner(database.connectionString)
    await using freshStore = testRunner(fresh.connectionString)
    expect(await migrate(store.runner, words(), 5)).toEqual([1, 2])
    await migrate(freshStore.runner, words(), 5)

    expect(await columns(database)).toEqual(expect.arrayContaining(before.columns))
    expect(await indexes(database)).toEqual(expect.arrayContaining(before.indexes))
    // Where Java compares by the database's language, our own tables compare by code point; else they are alike.
    const alike = (lines: readonly string[]): string[] =>
      lines.map((line) => line.replace(/ (C|default) /, ' '))
    expect(alike(await columns(database))).toEqual(alike(await columns(fresh)))
    const added = (await indexes(database)).map(({ indexname }) => String(indexname))
    expect(added).toContain('idx_qrtz_t_acquire')
    expect(added).not.toContain('idx_qrtz_t_job')
    const [job] = await database.query('SELECT * FROM qrtz_job_details')
    expect(job).toMatchObject({ job_name: 'j', retry_policy: null, timeout_ms: null })
    await database.query(
      `INSERT INTO qrtz_job_details VALUES ('s', 'k', 'g', NULL, 'org.example.A', true, false, false, false, NULL)`,
    )
  })

  test('has the columns that the printed plan goes by', async () => {
    await using database = await freshDatabase()
    for (const statement of quartzTables) await database.query(statement)
    const steps = planMigrations(words(), schemaOfQuartz)
    for (const statement of steps.flatMap(statementsOfStep)) await database.query(statement)
    await using fresh = await freshDatabase()
    await using store = testRunner(fresh.connectionString)
    await migrate(store.runner, words(), 5)
    const names = (lines: readonly string[]): string[] =>
      lines
        .map((line) => line.split(' ', 1)[0] ?? '')
        .filter((line) => !line.startsWith('qrtz_schema_version'))
    expect(names(await columns(database))).toEqual(names(await columns(fresh)))
  })
})

describe('a schema of another release', () => {
  test('of version 1 is brought up to date with its rows, and made as a new one is', async () => {
    await using database = await freshDatabase()
    await using fresh = await freshDatabase()
    const [first] = planMigrations(words(), emptySchema)
    for (const statement of [...versionTable(words()), ...statementsOfStep(first)])
      await database.query(statement)
    await database.query('INSERT INTO qrtz_schema_version VALUES (1, true, 4)')
    await database.query(`INSERT INTO qrtz_paused_trigger_grps VALUES ('s', 'g')`)
    await using store = testRunner(database.connectionString)
    await using freshStore = testRunner(fresh.connectionString)
    expect(await migrate(store.runner, words(), 5)).toEqual([2])
    await migrate(freshStore.runner, words(), 5)
    expect(await columns(database)).toEqual(await columns(fresh))
    expect(await indexes(database)).toEqual(await indexes(fresh))
    expect(await database.query('SELECT * FROM qrtz_paused_trigger_grps')).toHaveLength(1)
  })

  test('of version 1 is brought up to date when others let go of a table, which till then they can use', async () => {
    await using database = await freshDatabase()
    const { connectionString } = database
    const [first] = planMigrations(words(), emptySchema)
    for (const statement of [...versionTable(words()), ...statementsOfStep(first)])
      await database.query(statement)
    await database.query('INSERT INTO qrtz_schema_version VALUES (1, true, 4)')
    await using reader = testRunner(connectionString)
    const session = await reader.connections.open(null)
    await session.query({ text: 'BEGIN; SELECT count(*) FROM qrtz_triggers' })
    const told = latch<object>()
    const logger = { ...silentLogger, warn: told.open }
    const starting = createScheduler({ jobStore: postgresJobStore({ connectionString }), logger })
    expect(await told.promise).toMatchObject({ holders: [{ state: 'idle in transaction' }] })
    // A node of the older release goes on, also with the tables that are changed already.
    const asOldNode = 'SET statement_timeout = 10000; SELECT count(*) FROM qrtz_triggers'
    await database.query(asOldNode)
    expect(await database.query('SELECT job_plan FROM qrtz_job_details')).toEqual([])
    const versions = 'SELECT version FROM qrtz_schema_version ORDER BY 1'
    expect(await database.query(versions)).toEqual([{ version: 1 }])
    await session.query({ text: 'COMMIT' })
    session.release()
    await (await starting).shutdown()
    expect(await database.query(versions)).toEqual([{ version: 1 }, { version: 2 }])
  })

  test('too old, or none, is refused where the store may not migrate, and nothing is made', async () => {
    await using database = await freshDatabase()
    await using store = testRunner(database.connectionString)
    for (const [names, command] of [
      [{}, 'migrate --store ...'],
      [{ schema: 'Jobs' }, 'migrate --store ... --schema jobs'],
      [{ prefix: 'b_', schema: 'jobs' }, 'migrate --store ... --prefix b_ --schema jobs'],
    ] as const) {
      await expect(requireSchema(store.runner, words(names))).rejects.toMatchObject({
        code: 'ERR_SCHEMA_TOO_OLD',
        message: expect.stringContaining(`'npx quartz-ts ${command}'`) as string,
      })
    }
    expect(await columns(database)).toEqual([])
  })

  test('newer is refused by name when it is breaking, and used when it is not', async () => {
    await using database = await freshDatabase()
    await using store = testRunner(database.connectionString)
    await migrate(store.runner, words(), 5)
    const newer = newestSchemaVersion + 1
    await database.query('INSERT INTO qrtz_schema_version VALUES ($1, false, 9)', [newer])
    expect(await migrate(store.runner, words(), 5)).toEqual([])
    await database.query('UPDATE qrtz_schema_version SET breaking = true WHERE version = $1', [newer])
    await expect(migrate(store.runner, words(), 5)).rejects.toMatchObject({
      code: 'ERR_SCHEMA_TOO_NEW',
      message: expect.stringContaining(`schema version ${newer}`) as string,
    })
  })
})
