import type { JobKey } from '../../core/key.ts'
import type { JobStatus, JobStatusQuery } from '../job-status.ts'
import type { JobStoreRecords, RecordBatch } from '../job-store-records.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import type { SqlProgram } from './kernel/statement.ts'
import type { RecordPruner } from './record-pruner.ts'
import type { SqlTransaction } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'

interface OpenParts {
  readonly transactions: SqlTransactor
  readonly pruner: RecordPruner
}

/** What is remembered of executions, in tables of its own. */
export class SqlRecords implements JobStoreRecords {
  readonly kinds: readonly (keyof RecordBatch)[]
  readonly #open: () => OpenParts

  constructor(open: () => OpenParts, { jobStatus }: ResolvedRecordOptions) {
    this.#open = open
    this.kinds = jobStatus.record ? ['statuses'] : []
  }

  async write(batch: RecordBatch): Promise<void> {
    const { transactions, pruner } = this.#open()
    await transactions.run((tx) => writeRecords(tx, batch), { lock: 'none', tells: 'none' })
    pruner.noteWrite()
  }

  async queryJobStatus(query: JobStatusQuery): Promise<Page<JobStatus, JobKey>> {
    const size = pageSize('queryJobStatus', query)
    const found = await this.#open().transactions.read(({ jobStatus, context }) =>
      jobStatus.find(query, size + 1, context.clock.now()),
    )
    const items = found.slice(0, size)
    return { items, next: found.length > size ? (items.at(-1)?.jobKey ?? null) : null }
  }
}

function* writeRecords({ session, nowMs }: SqlTransaction, { statuses = [] }: RecordBatch): SqlProgram<void> {
  yield* session.jobStatus.write(statuses, nowMs)
}
