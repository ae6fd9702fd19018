import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresDialect, postgresSchema } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import type { SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import { historyStatements } from '../../src/jobstore/sql/tables/history/history-table.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'

// What deletes some old executions of many goes by the index in their order, and ends where it has them.

const words = { dialect: postgresDialect, schema: postgresSchema, names: sqlNames('test', {}) }
const history = historyStatements({ ...words, schedulerName: 'S' })
const [scheduler, limit, id] = ['S', 500, ''] as const
const after = { afterMs: 80_000, afterId: '' }
const statements: Record<string, () => SqlStatement> = {
  deleteFree: () => history.deleteFree({ scheduler, time: 90_000, id, limit }),
  nthAfter: () => history.nthAfter({ scheduler, before: 90_000, skipped: 4999, ...after }),
  deleteOutcome: () =>
    history.deleteOutcome({ scheduler, outcome: 'vetoed', time: 85_000, id, limit, ...after }),
}

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await freshDatabase()
  const { runner } = testRunner(database.connectionString)
  await migrate(runner, words, 0)
  await runner.close()
  client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  // Statistics come when the tests say so.
  await client.query('ALTER TABLE qrtz_execution_history SET (autovacuum_enabled = false)')
  await client.query(
    `INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group, job_name, job_group,
       job_type, instance_name, planned_time, fired_time, finished_time, attempt, outcome, recovering)
     SELECT 'S', i, 't'||i % 50, 'g', 'j', 'g', 'j', 'n', i, i, i, 1, CASE i % 2 WHEN 0 THEN 'failed'
       ELSE 'succeeded' END,
       false FROM generate_series(1, 100000) i`,
  )
})
afterAll(async () => {
  await client.end()
  await database[Symbol.asyncDispose]()
})

describe.each([
  ['without statistics and values', 'SET plan_cache_mode = force_generic_plan'],
  ['with statistics, without values', 'ANALYZE'],
  ['with statistics', 'RESET plan_cache_mode'],
])('%s', (_, change) => {
  beforeAll(async () => {
    await client.query(change)
  })

  it.each(Object.entries(statements))('%s goes by the times of firing', async (__, statement) => {
    const { text, values } = statement()
    await client.query(`PREPARE planned AS ${text}`)
    const literals = values.map((value) => pg.escapeLiteral(String(value))).join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE planned(${literals})`)
    await client.query('DEALLOCATE planned')
    const plan = rows.map((line) => line['QUERY PLAN']).join('\n')
    expect(plan).toMatch(/Index (Only )?Scan using idx_qrtz_eh_(fired|failed) .*\n +Index Cond: .*fired_time/)
    expect(plan).not.toMatch(/Seq Scan|Sort/)
  })
})
