import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { postgresDialect, postgresSchema } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { transactionOpening } from '../../src/jobstore/postgres/postgres-transaction.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import type { SqlProgram, SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import { AwaitedResultTable } from '../../src/jobstore/sql/tables/firings/awaited-result-table.ts'
import { FiredTriggerTable } from '../../src/jobstore/sql/tables/firings/fired-trigger-table.ts'
import { JobGroupLimits } from '../../src/jobstore/sql/tables/firings/job-group-limits.ts'
import { historyStatements } from '../../src/jobstore/sql/tables/history/history-table.ts'
import { JobTable } from '../../src/jobstore/sql/tables/jobs/job-table.ts'
import { jobStatusStatements } from '../../src/jobstore/sql/tables/records/job-status-table.ts'
import { TriggerTable } from '../../src/jobstore/sql/tables/triggers/trigger-table.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'
import { findOnly } from '../support/searches.ts'

// Many rows, and three moments: right after they were stored, when the server believes that it knows nothing of them;
// with statistics; and with plans that do not know the values. A wrong plan goes through all rows for a few.

const words = { dialect: postgresDialect, schema: postgresSchema, names: sqlNames('test', {}) }
const vocabulary = { ...words, schedulerName: 'S' }
const triggers = new TriggerTable(vocabulary, 'json')
const simpleAlone = findOnly(new TriggerTable(vocabulary, 'json'), 'SIMPLE')
const cronAlone = findOnly(new TriggerTable(vocabulary, 'json'), 'CRON')
const jobs = new JobTable(vocabulary, 'json')

const awaited = new AwaitedResultTable(vocabulary, 'n')
const firings = new FiredTriggerTable(vocabulary, 'n')
const status = jobStatusStatements(vocabulary)
const history = historyStatements(vocabulary)
const limits = new JobGroupLimits(vocabulary, new Map([['g', 1]]))

const rows = 100_000
const few = Array.from({ length: 50 }, (_, index) => index * 7 + 1)
const keys = few.map((index) => new TriggerKey(`t${index}`, 'g'))
const ids = few.map(String)
const jobKeys = few.map((index) => new JobKey(`j${index}`, 'g'))
const entries = few.map((index) => ({
  trigger: TriggerBuilder.newTrigger()
    .withIdentity(`t${index}`, 'g')
    .forJob(`j${index}`, 'g')
    .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
    .build(),
  state: 'WAITING' as const,
}))
const due = { untilMs: rows, limit: 50, unknownJobTypes: [] }
const ahead = { ...due, nowMs: rows / 2 }

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
  for (const table of ['triggers', 'job_details', 'simple_triggers', 'fired_triggers']) {
    await client.query(`ALTER TABLE qrtz_${table} SET (autovacuum_enabled = false)`)
  }
  const series = `generate_series(1, ${rows}) i`
  await client.query(
    `INSERT INTO qrtz_job_details SELECT 'S', 'j'||i, 'g', NULL, 'work', true, i % 2 = 0, false, false FROM ${series}`,
  )
  await client.query(
    `INSERT INTO qrtz_triggers SELECT 'S', 't'||i, 'g', 'j'||i, 'g', NULL, i, -1, 5, 'WAITING', 'SIMPLE', 1, 0, NULL, 0
     FROM ${series}`,
  )
  await client.query(`INSERT INTO qrtz_simple_triggers SELECT 'S', 't'||i, 'g', -1, 1000, 0 FROM ${series}`)
  await client.query(
    `INSERT INTO qrtz_fired_triggers SELECT 'S', i, 't'||i, 'g', 'n', 1, 1, 5, 'EXECUTING', 'j'||i, 'g', true, false
     FROM generate_series(1, 50) i`,
  )
  await client.query(
    `INSERT INTO qrtz_job_status (sched_name, job_group, job_name, failures, changed_time)
     SELECT 'S', 'g', 'j'||i, 0, 0 FROM generate_series(1, 5000) i`,
  )
  await client.query(
    `INSERT INTO qrtz_job_days (sched_name, job_group, job_name, day_number, succeeded, failed, vetoed, interrupted,
       timed_out, lost, run_time)
     SELECT 'S', 'g', 'j'||i % 1000, i, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(1, 20000) i`,
  )
  // In flight for an hour yet, but for a few that are overdue and a few that a late result may come for.
  await client.query(
    `INSERT INTO qrtz_awaited_results
     SELECT 'S', 'r'||i, i, 'j'||i, 'g', CASE WHEN i <= 50 THEN i WHEN i <= 100 THEN -i ELSE 3600000 + i END, NULL
     FROM ${series}`,
  )
})
afterAll(async () => {
  await client.end()
  await database[Symbol.asyncDispose]()
})

function statementsOf(program: SqlProgram<unknown>): SqlStatement[] {
  const statements: SqlStatement[] = []
  for (let step = program.next(); step.done !== true; ) {
    statements.push(step.value)
    step = program.next({ rows: [], changes: 0 })
  }
  return statements
}

/** Statements that go to rows by their keys. */
function keyedPrograms(count: number): Record<string, () => SqlProgram<unknown>> {
  const named = keys.slice(0, count)
  const ofJobs = jobKeys.slice(0, count)
  const stored = entries.slice(0, count)
  return {
    'triggers.put': () => triggers.put(stored),
    'triggers.advance': () => triggers.advance(stored),
    'triggers.load': () => triggers.load(named),
    'triggers.lock': () => triggers.lock(named),
    'triggers.tryLock': () => triggers.tryLock(named),
    'triggers.lockOfJobs': () => triggers.lockOfJobs(ofJobs),
    'triggers.applyToJobs': () => triggers.applyToJobs('block', ofJobs),
    'triggers.setStates': () => triggers.setStates(named.map((key) => ({ key, state: 'ERROR' }))),
    'triggers.delete': () => triggers.delete(named.map((key) => ({ key, storedType: 'SIMPLE' }))),
    'jobs.load': () => jobs.load(ofJobs),
    'jobs.lock': () => jobs.lock(ofJobs),
    'jobs.tryLock': () => jobs.tryLock(ofJobs),
    'jobs.tryLockWithData': () => jobs.tryLockWithData(ofJobs),
    'jobs.writeData': () => jobs.writeData(ofJobs.map((key) => ({ key, data: { a: 1 } }))),
    'jobs.deleteOrphans': () => jobs.deleteOrphans(ofJobs),
    'jobs.delete': () => jobs.delete(ofJobs),
  }
}

const ofOne = Object.entries(keyedPrograms(1))
const programs: Record<string, () => SqlProgram<unknown>> = {
  ...keyedPrograms(few.length),
  ...Object.fromEntries(ofOne.map(([name, program]) => [`${name} of one`, program])),
  'triggers.lockDue': () => triggers.lockDue(due),
  'triggers.lockDue of simple triggers alone': () => simpleAlone.lockDue(due),
  'triggers.lockDue of cron triggers alone': () => cronAlone.lockDue(due),
  'triggers.lockDue but for some types': () => triggers.lockDue({ ...due, unknownJobTypes: ['a'] }),
  'triggers.lockDue but for some jobs': () => triggers.lockDue({ ...due, leftJobs: jobKeys }),
  'triggers.lockDue after an instant': () => triggers.lockDue({ ...due, afterMs: rows / 2 }),
  'triggers.dueJobTypes': () => triggers.dueJobTypes(due),
  'triggers.lookAhead': () => triggers.lookAhead(ahead, 'node'),
  'triggers.lookAhead where nodes own items': () => triggers.lookAhead({ ...ahead, node: 'node' }, 'node'),
  'triggers.lookAhead with full groups': () => triggers.lookAhead({ ...ahead, fullGroups: ['full'] }, 'node'),
  'triggers.lockDue but for full groups': () => triggers.lockDue({ ...due, fullGroups: ['full'] }),
  'limits.rooms': () => limits.rooms(),
  'limits.earliestOf': () => limits.earliestOf(['g'], rows),
}

/** Statements about executions, of which thousands may go on elsewhere. */
const ofExecutions: Record<string, () => SqlProgram<unknown>> = {
  'awaited.firingsOf': () => awaited.firingsOf(ids),
  'awaited.find': () => awaited.find(ids),
  'awaited.ofJob': () => awaited.ofJob(new JobKey('j1', 'g')),
  'awaited.ofFiring': () => awaited.ofFiring('1'),
  'awaited.keepLate': () => awaited.keepLate(ids),
  'awaited.takeLate': () => awaited.takeLate(ids),
  'awaited.among': () => awaited.among(ids),
  'awaited.delete': () => awaited.delete(ids),
  'firings.isInFlight': () => firings.isInFlight(ids),
  'firings.delete': () => firings.delete(ids, 'EXECUTING'),
  'firings.executing': () => firings.executing(jobKeys),
  'firings.busy': () => firings.busy(jobKeys),
  'firings.markNonConcurrent': () => firings.markNonConcurrent(jobKeys),
}

/** Statements about what was, which go to rows by their keys. */
const rowsOfJobs = jobKeys.map(({ name, group }) => ({ sched_name: 'S', job_name: name, job_group: group }))
const ofRecords: Record<string, () => SqlStatement> = {
  'status.known': () => status.known({ rows: rowsOfJobs }),
  'status.addStatus': () => status.addStatus({ rows: rowsOfJobs }),
  'status.addDays': () => status.addDays({ rows: rowsOfJobs }),
  'status.ofJobs': () => status.ofJobs({ rows: rowsOfJobs, failures: 0 }),
  'status.days': () => status.days({ rows: rowsOfJobs, after: 0 }),
  'history.get': () => history.get({ scheduler: 'S', id: '1' }),
}

/** The scans of tables that do not go to rows by the keys or the fire times that they look for. */
function wholeScans(plan: string, tables = 'triggers|job_details|simple_triggers'): string[] {
  const lines = plan.split('\n')
  const keys = 'trigger_name|job_name|fire_id|entry_id|reference|fire_instance_id'
  const goesByKey = new RegExp(`(Index|TID) Cond: .*((${keys})(\\)::text)? = |next_fire_time|ctid)`)
  return lines.filter((line, index) => {
    return new RegExp(`Scan.* on qrtz_(${tables})`).test(line) && !goesByKey.test(lines[index + 1] ?? '')
  })
}

/** Prepared, because only then `plan_cache_mode` says whether the plan knows the values. */
async function planOf({ text, values }: SqlStatement): Promise<string> {
  await client.query(`PREPARE planned AS ${text}`)
  try {
    const literals = values.map((value) => (value === null ? 'NULL' : pg.escapeLiteral(String(value))))
    const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN EXECUTE planned${literals.length > 0 ? `(${literals.join(', ')})` : ''}`,
    )
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  } finally {
    await client.query('DEALLOCATE planned')
  }
}

describe.each([
  ['without statistics', 'SELECT 1'],
  ['without statistics and values', 'SET plan_cache_mode = force_generic_plan'],
  ['with statistics, without values', 'ANALYZE'],
  ['with statistics', 'RESET plan_cache_mode'],
])('%s', (_, change) => {
  beforeAll(async () => {
    await client.query(change)
  })

  it.each(Object.entries(programs))('%s goes to its rows by an index', async (__, program) => {
    for (const statement of statementsOf(program())) {
      // The firings in flight are few.
      const plan = (await planOf(statement)).replace(/ on qrtz_fired_triggers .*\n.*Cond.*/g, '')
      expect(wholeScans(plan), plan).toEqual([])
    }
  })

  it('triggers that are due are found in the order in which they fire', async () => {
    for (const table of [triggers, simpleAlone, cronAlone]) {
      const plan = await planOf(statementsOf(table.lockDue(due))[0] ?? { text: '', values: [] })
      expect(plan).toContain('idx_qrtz_t_acquire')
      expect(plan).not.toContain('Sort')
    }
  })
})

it('a transaction goes by their deadlines to the results that are overdue or late', async () => {
  const limits = { lockTimeoutMs: 0, statementTimeoutMs: 0, hasTimelines: false, hasStartTime: true }
  await client.query('BEGIN')
  await client.query(transactionOpening(limits).text)
  for (const statement of statementsOf(awaited.deleteOrphans(1000))) {
    const plan = await planOf(statement)
    expect(plan).toMatch(/idx_qrtz_ar_deadline on qrtz_awaited_results a .*\n +Index Cond: .*deadline/)
    expect(plan).not.toContain('Seq Scan on qrtz_awaited_results')
  }
  await client.query('ROLLBACK')
})

// As ANALYZE leaves them in a queue that ran dry. Whatever is stored from then on, the planner expects one row.
describe.each([
  ['a job each', 'SELECT 1'],
  // The index of the jobs is smaller than the primary key then, which is all that the planner sees of it.
  [
    'few jobs',
    "UPDATE qrtz_triggers SET job_name = 'j' || next_fire_time % 100 + 1; REINDEX TABLE qrtz_triggers",
  ],
])('after statistics were taken while only deleted rows filled the tables, with %s', (_, change) => {
  beforeAll(async () => {
    await client.query(change)
  })

  async function expectNoWholeScan(
    statements: () => readonly SqlStatement[],
    tables?: string,
  ): Promise<void> {
    const limits = { lockTimeoutMs: 0, statementTimeoutMs: 0, hasTimelines: false, hasStartTime: true }
    await client.query('BEGIN')
    onTestFinished(async () => {
      await client.query('ROLLBACK')
    })
    await client.query(transactionOpening(limits).text)
    await client.query(
      "UPDATE pg_class SET reltuples = 0, relpages = 80 WHERE relname LIKE 'qrtz_%' AND relkind = 'r'",
    )
    for (const statement of statements()) {
      const plan = await planOf(statement)
      expect(wholeScans(plan, tables), `${statement.text}\n${plan}`).toEqual([])
    }
  }

  it.each(Object.entries(programs))('%s goes to its rows by their keys', async (__, program) => {
    await expectNoWholeScan(() => statementsOf(program()))
  })

  it.each(Object.entries(ofExecutions))('%s goes to its rows by their keys', async (__, program) => {
    await expectNoWholeScan(() => statementsOf(program()), 'awaited_results|fired_triggers|job_details')
  })

  it.each(Object.entries(ofRecords))('%s goes to its rows by their keys', async (__, statement) => {
    await expectNoWholeScan(() => [statement()], 'job_status|job_days|job_details|execution_history')
  })
})

describe.each([10_000, 2_000, 400, 50, 5, 0])('while %i triggers are stored', (count) => {
  beforeAll(async () => {
    await client.query(`DELETE FROM qrtz_triggers WHERE next_fire_time > ${count}`)
    // Deleted rows stay while another session may see them, as one of an autovacuum; then there are pages for none.
    await vi.waitFor(
      async () => {
        await client.query('VACUUM FULL ANALYZE qrtz_triggers')
        const { rows: found } = await client.query<{ relpages: number; reltuples: number }>(
          "SELECT relpages, reltuples FROM pg_class WHERE oid = 'qrtz_triggers'::regclass",
        )
        expect(found).toMatchObject([{ reltuples: count, ...(count === 0 && { relpages: 0 }) }])
      },
      { timeout: 30_000, interval: 50 },
    )
  })

  it('a transaction keeps no plan that sorts all triggers that are due for the first of them', async () => {
    const limits = { lockTimeoutMs: 0, statementTimeoutMs: 0, hasTimelines: false, hasStartTime: true }
    await client.query('BEGIN')
    await client.query(transactionOpening(limits).text)
    for (const table of [triggers, simpleAlone, cronAlone]) {
      const plan = await planOf(statementsOf(table.lockDue(due))[0] ?? { text: '', values: [] })
      expect(plan).toContain('Index Scan using idx_qrtz_t_acquire')
      expect(plan).not.toMatch(/Sort|Bitmap/)
    }
    await client.query('ROLLBACK')
  })

  it.each(ofOne)('a transaction keeps no plan of %s that would go through many', async (__, program) => {
    const limits = { lockTimeoutMs: 0, statementTimeoutMs: 0, hasTimelines: false, hasStartTime: true }
    await client.query('BEGIN')
    await client.query(transactionOpening(limits).text)
    for (const statement of statementsOf(program())) {
      const plan = await planOf(statement)
      expect(wholeScans(plan), plan).toEqual([])
    }
    await client.query('ROLLBACK')
  })
})
