import { createHash } from 'node:crypto'
import type { SqlNames } from '../sql/kernel/sql-names.ts'
import type { TransactionLock } from '../sql/kernel/sql-runner.ts'
import type { SqlReply } from '../sql/kernel/statement.ts'
import { postgresDriver } from './postgres-driver.ts'

/** How transactions of the nodes of a cluster exclude each other. */
export interface LockingStrategy {
  readonly name: 'skipLocked' | 'quartzLocks'
  /** Statements that take the locks of a transaction; sent with its BEGIN, so without parameters. */
  take(lock: TransactionLock): readonly string[]
  /** Whether the replies to `take`, in order, show that all locks were taken. */
  isTaken(replies: readonly SqlReply[]): boolean
  /**
   * A statement to run outside of the transaction before it is tried again, when not all locks could be taken; or null.
   */
  readonly prepare: string | null
  /** Whether all transactions wait for each other in one queue, so that none passes over locked rows. */
  readonly waitsInTurn: boolean
}

export interface LockingScope {
  readonly names: SqlNames
  readonly schedulerName: string
}

/**
 * No lock at all in the hot path: rows are claimed one by one, with SKIP LOCKED and guarded updates. Only operations on
 * rows that they cannot name one by one exclude others, by advisory locks. These end with the transaction, so that they
 * work behind a transaction pooler.
 */
export function skipLockedLocking({ names, schedulerName }: LockingScope): LockingStrategy {
  // Without the schema: nodes that name it and nodes that find it by their search path must exclude each other. In
  // lower case: to PostgreSQL, `QRTZ_` and `qrtz_` are the same tables.
  const prefix = names.prefix.toLowerCase()
  const scheduling = advisoryKey(prefix, schedulerName, 'scheduling')
  const cluster = advisoryKey(prefix, schedulerName, 'cluster')
  const statements: Record<TransactionLock, readonly string[]> = {
    none: [],
    rows: [],
    shared: [`SELECT pg_advisory_xact_lock_shared(${scheduling})`],
    exclusive: [`SELECT pg_advisory_xact_lock(${scheduling})`],
    cluster: [
      `SELECT pg_advisory_xact_lock(${cluster})`,
      `SELECT pg_advisory_xact_lock_shared(${scheduling})`,
    ],
    schema: [schemaLock],
  }
  return {
    name: 'skipLocked',
    take: (lock) => statements[lock],
    isTaken: () => true,
    prepare: null,
    waitsInTurn: false,
  }
}

/** Exactly the rows that Java Quartz locks, in its order, for clusters that have Java nodes. */
export function quartzLocking({ names, schedulerName }: LockingScope): LockingStrategy {
  const scheduler = postgresDriver().escapeLiteral(schedulerName)
  const row = (name: string): string =>
    `SELECT lock_name FROM ${names.locks} WHERE sched_name = ${scheduler} AND lock_name = '${name}' FOR UPDATE`
  const triggerAccess = [row('TRIGGER_ACCESS')]
  const statements: Record<TransactionLock, readonly string[]> = {
    none: [],
    rows: triggerAccess,
    shared: triggerAccess,
    exclusive: triggerAccess,
    cluster: [row('STATE_ACCESS'), ...triggerAccess],
    schema: [schemaLock],
  }
  return {
    name: 'quartzLocks',
    take: (lock) => statements[lock],
    isTaken: (replies) => replies.every(({ rows }) => rows.length === 1),
    prepare:
      `INSERT INTO ${names.locks} (sched_name, lock_name) VALUES ` +
      `(${scheduler}, 'TRIGGER_ACCESS'), (${scheduler}, 'STATE_ACCESS') ON CONFLICT DO NOTHING`,
    waitsInTurn: true,
  }
}

/**
 * One for all schemas and prefixes of a database. IF NOT EXISTS alone is not enough: two sessions that create one table
 * at the same time collide in the catalogue.
 */
const schemaLock = `SELECT pg_advisory_xact_lock(${advisoryKey('schema')})`

/** A number of 64 bits that every node computes alike, as text: JavaScript's numbers are too short. */
function advisoryKey(...parts: readonly string[]): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(['quartz-ts', ...parts]))
    .digest()
  return digest.readBigInt64BE().toString()
}
