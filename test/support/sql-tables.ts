import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { CalendarTable } from '../../src/jobstore/sql/calendar-table.ts'
import { FiredTriggerTable } from '../../src/jobstore/sql/fired-trigger-table.ts'
import type { JobDataEncoding } from '../../src/jobstore/sql/job-data-text.ts'
import { JobTable } from '../../src/jobstore/sql/job-table.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import type { SqlProgram, SqlRow, SqlStatement } from '../../src/jobstore/sql/statement.ts'
import { TriggerTable } from '../../src/jobstore/sql/trigger-table.ts'
import { sqliteRunner, sqliteWords } from './sqlite.ts'

/** The tables of the SQL store on a fresh SQLite database in memory. */
export class SqlTables {
  readonly triggers: TriggerTable
  readonly jobs: JobTable
  readonly calendars: CalendarTable
  readonly firedTriggers: FiredTriggerTable
  /** What was run since the last look. */
  readonly #statements: SqlStatement[] = []
  readonly #runner: Awaited<ReturnType<typeof sqliteRunner>>

  private constructor(runner: Awaited<ReturnType<typeof sqliteRunner>>, encoding: JobDataEncoding) {
    const vocabulary = { ...sqliteWords, schedulerName: 'S' }
    this.#runner = runner
    this.triggers = new TriggerTable(vocabulary, encoding)
    this.jobs = new JobTable(vocabulary, encoding)
    this.calendars = new CalendarTable(vocabulary)
    this.firedTriggers = new FiredTriggerTable(vocabulary, 'node')
  }

  static async open(encoding: JobDataEncoding = 'json'): Promise<SqlTables> {
    const runner = await sqliteRunner(':memory:')
    await migrate(runner, sqliteWords, 0)
    return new SqlTables(runner, encoding)
  }

  /** Runs a program as one transaction. */
  async run<Answer>(program: SqlProgram<Answer>): Promise<Answer> {
    return this.#runner.transact(() => this.#recorded(program))
  }

  /** The statements that were run since the last call. */
  takeStatements(): SqlStatement[] {
    return this.#statements.splice(0)
  }

  async query(text: string, ...values: (string | number)[]): Promise<readonly SqlRow[]> {
    return this.#runner.transact(function* () {
      return (yield { text, values }).rows
    })
  }

  /** Stores rows as another program would have written them; bytes are a Buffer or hexadecimal digits. */
  async insertRow(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
    const full: Record<string, unknown> = { sched_name: 'S', ...row }
    const values = Object.values(full).map((value) => {
      if (value === null) return 'NULL'
      if (Buffer.isBuffer(value)) return `x'${value.toString('hex')}'`
      return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value)
    })
    await this.query(
      `INSERT INTO qrtz_${table} (${Object.keys(full).join(', ')}) VALUES (${values.join(', ')})`,
    )
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

export function jobNamed(name: string, jobType = 'work'): JobDetail {
  return JobBuilder.newJob(jobType).withIdentity(name, 'jobs').storeDurably().build()
}
