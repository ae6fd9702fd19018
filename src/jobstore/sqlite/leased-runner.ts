import type { SqlRunner } from '../sql/sql-runner.ts'
import type { SqlProgram } from '../sql/statement.ts'
import type { SchedulerLease } from './scheduler-lease.ts'

/** Lets nothing be written any more once another scheduler has taken over. */
export class LeasedRunner implements SqlRunner {
  readonly #runner: SqlRunner
  readonly #lease: SchedulerLease

  constructor(runner: SqlRunner, lease: SchedulerLease) {
    this.#runner = runner
    this.#lease = lease
  }

  async transact<Answer>(
    begin: () => SqlProgram<Answer>,
    options: Parameters<SqlRunner['transact']>[1],
  ): Promise<Answer> {
    if (this.#lease.refusal !== null) throw this.#lease.refusal
    return this.#runner.transact(begin, options)
  }
  read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    return this.#runner.read(begin)
  }
  close(): Promise<void> {
    return this.#runner.close()
  }
}
