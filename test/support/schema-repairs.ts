import { describe, expect, test } from 'vitest'
import type { SqlRunner } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import { all } from '../../src/jobstore/sql/kernel/statement.ts'
import { lookAtSchema, migrate, requireSchema } from '../../src/jobstore/sql/migrations/migrate.ts'
import {
  emptySchema,
  planMigrations,
  type SchemaVocabulary,
  versionTable,
} from '../../src/jobstore/sql/migrations/plan-migrations.ts'
import { printMigrations } from '../../src/jobstore/sql/migrations/print-migrations.ts'
import { quartzTables } from './quartz-tables.ts'
import { statementsOfStep } from './step-statements.ts'

export interface SchemaGround {
  readonly runner: SqlRunner
  readonly words: SchemaVocabulary
}

const tablesOfQuartz = [
  'fired_triggers',
  'paused_trigger_grps',
  'scheduler_state',
  'locks',
  'simple_triggers',
  'cron_triggers',
  'simprop_triggers',
  'blob_triggers',
  'triggers',
  'job_details',
  'calendars',
]

async function run({ runner }: SchemaGround, ...statements: readonly string[]): Promise<void> {
  for (const text of statements) await runner.transact(() => all({ text, values: [] }), { lock: 'none' })
}

/** What is printed for the database, without the words around it: the transaction is the runner's. */
async function runScript(ground: SchemaGround): Promise<void> {
  const { runner, words } = ground
  const script = printMigrations(words, await lookAtSchema(runner, words), 6)
  await run(ground, ...script.split(/;\n+/).slice(1, -2))
}

/** A database whose version row says that all is there, when it is not. */
export function describeSchemaRepairs(engine: string, prepare: () => Promise<SchemaGround>): void {
  describe(`a database on ${engine} that says it is up to date`, () => {
    test('and whose tables the script of Quartz made anew is adopted', async () => {
      const ground = await prepare()
      const { runner, words } = ground
      await migrate(runner, words, 5)
      await run(ground, ...tablesOfQuartz.map((table) => `DROP TABLE qrtz_${table}`), ...quartzTables)
      await expect(requireSchema(runner, words)).rejects.toMatchObject({
        code: 'ERR_SCHEMA_TOO_OLD',
        message: expect.stringContaining("column 'qrtz_triggers.misfire_orig_fire_time'") as string,
      })
      expect(await migrate(runner, words, 6)).toEqual([2])
      await requireSchema(runner, words)
      expect(await migrate(runner, words, 7)).toEqual([])
    })

    test('and was adopted has nothing that is missing', async () => {
      const ground = await prepare()
      await run(ground, ...quartzTables)
      expect(await migrate(ground.runner, ground.words, 5)).toEqual([1, 2])
      expect(await migrate(ground.runner, ground.words, 6)).toEqual([])
    })

    test.each([
      ['a column', 'ALTER TABLE qrtz_job_details DROP COLUMN retry_policy', 'job_details.retry_policy'],
      ['a table', 'DROP TABLE qrtz_execution_history', 'execution_history'],
      ['a table of records', 'DROP TABLE qrtz_job_days', 'job_days'],
      ['a table of groups', 'DROP TABLE qrtz_paused_job_grps', 'paused_job_grps'],
    ])('and lacks %s gets it', async (_, loss, name) => {
      const ground = await prepare()
      const { runner, words } = ground
      await migrate(runner, words, 5)
      await run(ground, loss)
      await expect(requireSchema(runner, words)).rejects.toThrow(name)
      expect(await migrate(runner, words, 6)).toEqual([2])
      await requireSchema(runner, words)
      expect(await migrate(runner, words, 7)).toEqual([])
    })

    test.each(['t_acquire', 't_job', 't_calendar', 'ft_job', 'eh_fired'])(
      'and lacks the index %s gets it, and works without it',
      async (index) => {
        const ground = await prepare()
        const { runner, words } = ground
        await migrate(runner, words, 5)
        await run(ground, `DROP INDEX idx_qrtz_${index}`)
        await requireSchema(runner, words)
        expect(await migrate(runner, words, 6)).toEqual([2])
        expect(await migrate(runner, words, 7)).toEqual([])
      },
    )
  })

  describeFormerIndex(engine, prepare)
  describeForeignTables(engine, prepare)
  describePrintedScripts(engine, prepare)
}

function describeFormerIndex(engine: string, prepare: () => Promise<SchemaGround>): void {
  describe(`a database on ${engine} that says it is up to date`, () => {
    test.each(['by migrate', 'by the script that is printed for it'])(
      'and has the index of triggers at rest of before gets the one of today %s',
      async (how) => {
        const ground = await prepare()
        const { runner, words } = ground
        await migrate(runner, words, 5)
        await run(ground, 'DROP INDEX IF EXISTS idx_qrtz_t_at_rest', formerIndex(ground))
        await requireSchema(runner, words)
        if (how === 'by migrate') expect(await migrate(runner, words, 6)).toEqual([2])
        else await runScript(ground)
        const { indexes } = await lookAtSchema(runner, words)
        const names = indexes.get('triggers')?.map(({ name }) => name)
        expect(names).toContain('idx_qrtz_t_at_rest')
        expect(names).not.toContain('idx_qrtz_t_still')
        expect(await migrate(runner, words, 7)).toEqual([])
      },
    )
  })
}

/** With the condition that it had before, which SQLite does not take for that of the statements. */
function formerIndex({ words: { dialect } }: SchemaGround): string {
  const [group, name] = ['trigger_group', 'trigger_name'].map((column) => `${column}${dialect.keyCollation}`)
  return `CREATE INDEX idx_qrtz_t_still ON qrtz_triggers (sched_name, ${group}, ${name}, trigger_state)
    WHERE trigger_state NOT IN ('WAITING', 'ACQUIRED', 'BLOCKED')`
}

function describeForeignTables(engine: string, prepare: () => Promise<SchemaGround>): void {
  describe(`a table of someone else on ${engine}`, () => {
    test('is named in a database that says it is up to date', async () => {
      const ground = await prepare()
      await migrate(ground.runner, ground.words, 5)
      await run(ground, 'DROP TABLE qrtz_locks', 'CREATE TABLE qrtz_locks (id integer)')
      for (const check of [
        migrate(ground.runner, ground.words, 6),
        requireSchema(ground.runner, ground.words),
      ]) {
        await expect(check).rejects.toMatchObject({
          code: 'ERR_SCHEMA_TOO_OLD',
          message: expect.stringContaining("'qrtz_locks' lacks 'sched_name', 'lock_name'") as string,
        })
      }
    })

    test.each([
      ['of Quartz', 'triggers', 'qrtz_triggers', 'sched_name'],
      ['of a later step', 'notes', 'qrtz_notes', 'sched_name'],
    ] as const)(
      'with a name %s is named in a database without the others, and stays alone',
      async (...[, part, table, column]) => {
        const { runner, words } = await prepare()
        await run({ runner, words }, `CREATE TABLE ${table} (id integer)`)
        for (const check of [migrate(runner, words, 5), requireSchema(runner, words)]) {
          await expect(check).rejects.toMatchObject({
            code: 'ERR_SCHEMA_TOO_OLD',
            message: expect.stringMatching(
              new RegExp(`'${table}' lacks '${column}', .* use another tablePrefix\\.$`),
            ) as string,
          })
        }
        expect([...(await lookAtSchema(runner, words)).columns.keys()]).toEqual([part])
      },
    )

    test('with the name of the versions is named and not read', async () => {
      const { runner, words } = await prepare()
      await run({ runner, words }, 'CREATE TABLE qrtz_schema_version (version integer, description text)')
      for (const check of [migrate(runner, words, 5), requireSchema(runner, words)]) {
        await expect(check).rejects.toMatchObject({
          code: 'ERR_SCHEMA_TOO_OLD',
          message: expect.stringContaining(
            "'qrtz_schema_version' lacks 'breaking', 'applied_time'",
          ) as string,
        })
      }
    })
  })
}

function describePrintedScripts(engine: string, prepare: () => Promise<SchemaGround>): void {
  describe(`a database on ${engine} that says it is up to date`, () => {
    test.each([
      ['an index', 'DROP INDEX idx_qrtz_t_acquire'],
      ['a column', 'ALTER TABLE qrtz_job_details DROP COLUMN retry_policy'],
      ['a table', 'DROP TABLE qrtz_execution_history'],
    ])('and lacks %s is printed a script that makes it', async (_, loss) => {
      const ground = await prepare()
      await migrate(ground.runner, ground.words, 5)
      await run(ground, loss)
      await runScript(ground)
      expect(await migrate(ground.runner, ground.words, 6)).toEqual([])
    })
  })

  test(`a database of version 1 on ${engine} is brought up to date by the script that is printed for it`, async () => {
    const ground = await prepare()
    const { runner, words } = ground
    const [first] = planMigrations(words, emptySchema)
    const row = `INSERT INTO qrtz_schema_version VALUES (1, true, 4)`
    await run(ground, ...versionTable(words), ...statementsOfStep(first), row)
    await runScript(ground)
    expect(await migrate(runner, words, 6)).toEqual([])
    await requireSchema(runner, words)
  })
}
