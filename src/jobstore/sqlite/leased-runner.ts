import { JobPersistenceError } from '../../core/errors.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import type { SqlProgram } from '../sql/kernel/statement.ts'
import type { SchedulerLease } from './scheduler-lease.ts'

/** Writes nothing once another scheduler has taken the lease: each transaction checks the lease itself. */
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
    const lease = this.#lease
    if (lease.refusal !== null) throw lease.refusal
    try {
      return await this.#runner.transact(() => lease.guard(begin()), options)
    } catch (error) {
      const isTakenOver = error instanceof JobPersistenceError && error.code === 'ERR_STORE_IN_USE'
      if (isTakenOver) lease.lose(error)
      throw error
    }
  }
  read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    return this.#runner.read(begin)
  }
  close(): Promise<void> {
    return this.#runner.close()
  }
}
