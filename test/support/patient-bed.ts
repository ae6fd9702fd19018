import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import type { SqlProgram } from '../../src/jobstore/sql/kernel/statement.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import type { ManualClock } from '../../src/time/manual-clock.ts'
import type { TestDatabase } from './postgres-database.ts'
import { withTransactions } from './wrapped-engine.ts'

interface BedParts {
  readonly instanceId: string
  readonly clock: ManualClock
  /** What is run in place of the program of a transaction. */
  readonly around: <Answer>(program: SqlProgram<Answer>) => SqlProgram<Answer>
}

/** A node on the database that waits for locks for longer than a test holds them. */
export async function patientBed(
  { connectionString }: TestDatabase,
  { instanceId, clock, around }: BedParts,
): Promise<Testbed> {
  const engine = postgresEngine(
    resolvePostgresOptions({ connectionString, listen: false, lockTimeoutMs: 60_000 }),
  )
  const wrapped = withTransactions(engine, (inner) => (begin, options) => {
    return inner.transact(() => around(begin()), options)
  })
  const bed = new Testbed(new SqlJobStore(wrapped), clock, instanceId)
  await bed.store.initialize(bed.context)
  return bed
}
