import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { postgresDialect, postgresSchema } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import type { SqlRunner } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import {
  all,
  type SqlProgram,
  type SqlRow,
  type SqlStatement,
} from '../../src/jobstore/sql/kernel/statement.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import type { SchemaVocabulary } from '../../src/jobstore/sql/migrations/plan-migrations.ts'
import { CalendarTable } from '../../src/jobstore/sql/tables/calendars/calendar-table.ts'
import type { JobDataEncoding } from '../../src/jobstore/sql/tables/encoding/job-data-text.ts'
import { FiredTriggerTable } from '../../src/jobstore/sql/tables/firings/fired-trigger-table.ts'
import { JobTable } from '../../src/jobstore/sql/tables/jobs/job-table.ts'
import { JobStatusTable } from '../../src/jobstore/sql/tables/records/job-status-table.ts'
import { TriggerTable } from '../../src/jobstore/sql/tables/triggers/trigger-table.ts'
import { freshDatabase, type TestDatabase } from './postgres-database.ts'
import { testRunner } from './postgres-runner.ts'
import { sqliteRunner, sqliteWords } from './sqlite.ts'

interface Engine {
  readonly runner: SqlRunner
  readonly words: SchemaVocabulary
  readonly bytesLiteral: (bytes: Buffer) => string
}

const postgresWords: SchemaVocabulary = {
  dialect: postgresDialect,
  schema: postgresSchema,
  names: sqlNames('test', {}),
}
const shared: { database: TestDatabase | null } = { database: null }

/** Lets the tests of this file run on PostgreSQL; without this call they run on SQLite in memory. */
export function usePostgres(): void {
  beforeAll(async () => {
    shared.database = await freshDatabase()
  })
  afterAll(async () => {
    await shared.database?.[Symbol.asyncDispose]()
    shared.database = null
  })
}

async function emptyEngine(): Promise<Engine> {
  if (shared.database === null) {
    const runner = await sqliteRunner(':memory:')
    await migrate(runner, sqliteWords, 0)
    return { runner, words: sqliteWords, bytesLiteral: (bytes) => `x'${bytes.toString('hex')}'` }
  }
  const { runner } = testRunner(shared.database.connectionString)
  onTestFinished(() => runner.close())
  await migrate(runner, postgresWords, 0)
  await shared.database.emptySchema('public')
  return { runner, words: postgresWords, bytesLiteral: (bytes) => `'\\x${bytes.toString('hex')}'` }
}

/** The tables of the SQL store, on an empty database. */
export class SqlTables {
  readonly triggers: TriggerTable
  readonly jobs: JobTable
  readonly calendars: CalendarTable
  readonly firedTriggers: FiredTriggerTable
  readonly jobStatus: JobStatusTable
  readonly #engine: Engine
  readonly #statements: SqlStatement[] = []

  private constructor(engine: Engine, encoding: JobDataEncoding) {
    const vocabulary = { ...engine.words, schedulerName: 'S' }
    this.#engine = engine
    this.triggers = new TriggerTable(vocabulary, encoding)
    this.jobs = new JobTable(vocabulary, encoding)
    this.calendars = new CalendarTable(vocabulary)
    this.firedTriggers = new FiredTriggerTable(vocabulary, 'node')
    this.jobStatus = new JobStatusTable(vocabulary)
  }

  static async open(encoding: JobDataEncoding = 'json'): Promise<SqlTables> {
    return new SqlTables(await emptyEngine(), encoding)
  }

  /** Runs a program as one transaction. */
  async run<Answer>(program: SqlProgram<Answer>): Promise<Answer> {
    const answer = await this.#engine.runner.transact(() => this.#recorded(program), { lock: 'rows' })
    return answer
  }

  /** The statements that were run since the last call. */
  takeStatements(): SqlStatement[] {
    return this.#statements.splice(0)
  }

  async query(text: string): Promise<readonly SqlRow[]> {
    const rows = await this.#engine.runner.transact(() => all({ text, values: [] }), { lock: 'rows' })
    return rows
  }

  /** Stores a row as another program would have written it. */
  async insertRow(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
    const full: Record<string, unknown> = { sched_name: 'S', ...row }
    const values = Object.values(full).map((value) => {
      if (Buffer.isBuffer(value)) return this.#engine.bytesLiteral(value)
      return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value)
    })
    const columns = Object.keys(full).join(', ')
    await this.query(`INSERT INTO qrtz_${table} (${columns}) VALUES (${values.join(', ')})`)
  }

  /** Stores a durable job for each of the names. */
  async addJobs(...names: string[]): Promise<void> {
    await this.run(this.jobs.insert(names.map((name) => jobNamed(name))))
  }

  *#recorded<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
    let step = program.next()
    while (step.done !== true) {
      this.#statements.push(step.value)
      step = program.next(yield step.value)
    }
    return step.value
  }
}

/** A job that leaves nothing to a definition, as tables have them. */
export function jobNamed(name: string, jobType = 'work'): JobDetail {
  return JobBuilder.newJob(jobType)
    .withIdentity(name, 'jobs')
    .withDescription(null)
    .withTimeout(null)
    .withRetry(null)
    .storeDurably()
    .build()
}
