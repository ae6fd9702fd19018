import type { SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import type { KnownClusterBug } from './sim-cluster-bugs.ts'

const proves = /^SELECT 1 AS held FROM qrtz_scheduler_state WHERE/
const releasesOthers = /^DELETE FROM qrtz_scheduler_state WHERE sched_name = \? AND \(boot_id IS NULL/

const always = (answer: string): SqlStatement => ({ text: answer, values: [] })

const withoutProof = (statement: SqlStatement): SqlStatement =>
  proves.test(statement.text) ? always('SELECT 1 AS held') : statement

const leaseUnproven: KnownClusterBug = {
  name: 'A transaction writes without a proof that the lease is still held',
  symptom: /by one that is not the holder any more/,
  statement: withoutProof,
}

const leaseUnprovenAtEnd: KnownClusterBug = {
  name: 'What a former holder claimed after the take-over stays claimed',
  symptom: /is left|is in flight for ever/,
  statement: withoutProof,
}

const formerKept: KnownClusterBug = {
  name: 'A take-over leaves the lease of the holder before it in place',
  symptom: /by one that is not the holder any more/,
  statement: (statement) =>
    releasesOthers.test(statement.text) ? always('SELECT 1 WHERE false') : statement,
}

/** Bugs in the fencing of a SQLite file that was taken over. */
export const knownTakeOverBugs: readonly KnownClusterBug[] = [leaseUnproven, leaseUnprovenAtEnd, formerKept]
