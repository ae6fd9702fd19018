import pg from 'pg'
import { expect, it } from 'vitest'
import { postgresDialect, postgresSchema } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import { TriggerTable } from '../../src/jobstore/sql/tables/triggers/trigger-table.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'

const words = { dialect: postgresDialect, schema: postgresSchema, names: sqlNames('test', {}) }
const triggers = new TriggerTable({ ...words, schedulerName: 'S' }, 'json')
const gate = 4711

/** The search for due triggers, which holds still between what it reads and what it locks until the gate opens. */
function slowSearch(): { text: string; values: unknown[] } {
  const step = triggers.lockDue({ untilMs: 5000, limit: 10, unknownJobTypes: [] }).next()
  if (step.done === true) throw new Error('the search asks for nothing')
  const wait = `CROSS JOIN LATERAL (
    SELECT pg_advisory_xact_lock_shared(${gate} + 0 * length(t.trigger_name)) AS open OFFSET 0) AS gate WHERE`
  return { text: step.value.text.replace('WHERE', wait), values: [...step.value.values] }
}

it('a search leaves out a trigger that was changed between its reading and its lock', async () => {
  await using database = await freshDatabase()
  const { runner } = testRunner(database.connectionString)
  await migrate(runner, words, 0)
  await runner.close()
  const insert = async (name: string): Promise<void> => {
    await database.query(
      `INSERT INTO qrtz_job_details VALUES ('S', '${name}', 'g', NULL, 'work', true, false, false, false);
       INSERT INTO qrtz_triggers VALUES
         ('S', '${name}', 'g', '${name}', 'g', NULL, 1000, -1, 5, 'WAITING', 'SIMPLE', 1, 0, NULL, 0);
       INSERT INTO qrtz_simple_triggers VALUES ('S', '${name}', 'g', -1, 1000, 0)`,
    )
  }
  await insert('changed')
  await insert('same')
  const [searching, changing] = [database, database].map(
    ({ connectionString }) => new pg.Client({ connectionString }),
  ) as [pg.Client, pg.Client]
  await Promise.all([searching.connect(), changing.connect()])
  try {
    await changing.query(`BEGIN; SELECT pg_advisory_xact_lock(${gate})`)
    await searching.query('BEGIN; SET LOCAL enable_seqscan = off')
    const found = searching.query<{ trigger_name: string; s_times_triggered: string }>(slowSearch())
    await untilOneWaits(changing)
    // As a firing of another node would, which is still due afterwards.
    await database.query(
      `UPDATE qrtz_triggers SET next_fire_time = 2000 WHERE trigger_name = 'changed';
       UPDATE qrtz_simple_triggers SET times_triggered = 1 WHERE trigger_name = 'changed'`,
    )
    await changing.query('COMMIT')
    expect((await found).rows.map(({ trigger_name: name }) => name)).toEqual(['same'])
    await searching.query('ROLLBACK; BEGIN')
    const again = await searching.query<{ trigger_name: string; s_times_triggered: string }>(slowSearch())
    expect(again.rows.map((row) => [row.trigger_name, row.s_times_triggered])).toEqual([
      ['same', '0'],
      ['changed', '1'],
    ])
  } finally {
    await Promise.all([searching.end(), changing.end()])
  }
})

/** Polls without a pause: each question is a round trip. */
async function untilOneWaits(client: pg.Client): Promise<void> {
  const waits = `SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE d.datname = current_database() AND locktype = 'advisory' AND NOT granted`
  while ((await client.query(waits)).rows.length === 0);
}
