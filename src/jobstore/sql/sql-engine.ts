import type { EpochMs } from '../../time/clock.ts'
import type { InterruptTarget } from '../cluster-view.ts'
import type { JobStoreCapabilities } from '../job-store.ts'
import type { ClusterNodeView } from './cluster/cluster-node.ts'
import type { SqlDialect } from './kernel/sql-dialect.ts'
import type { SqlNames } from './kernel/sql-names.ts'
import type { SqlRunner } from './kernel/sql-runner.ts'
import type { SqlProgram } from './kernel/statement.ts'
import type { SqlSession } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import type { JobDataEncoding } from './tables/encoding/job-data-text.ts'
import type { JobGroupLimitsByGroup } from './tables/firings/job-group-limits.ts'
import type { ResolvedHistoryOptions } from './tables/history/history-options.ts'

/** A database under the SQL store: what it can do and how to reach it. */
export interface SqlEngine {
  /** Of the store, for people. */
  readonly name: string
  readonly capabilities: Pick<JobStoreCapabilities, 'persistent' | 'clustered' | 'sharedTransactions'>
  readonly dialect: SqlDialect
  readonly names: SqlNames
  readonly encoding: JobDataEncoding
  /** Java nodes may work on the same tables. Default false. */
  readonly sharedWithJava?: boolean
  readonly history: ResolvedHistoryOptions
  /** Default: no group is limited. */
  readonly jobGroupLimits?: JobGroupLimitsByGroup
  /** Makes the tables or brings them up to date, on a connection of its own; answers the versions that were applied. */
  migrate(): Promise<readonly number[]>
  /** Connects and sees to it that the tables are there. */
  connect(session: SqlSession): Promise<SqlConnection>
}

/** Runs programs inside of a transaction that the user began and will end. */
export interface JoinedRunner extends Pick<SqlRunner, 'transact' | 'read'> {
  /** Part of a program that made something available to fire: whoever fires is told when the transaction has ended. */
  wake(earliestMs: EpochMs): SqlProgram<void>
}

export interface SqlConnection {
  readonly runner: SqlRunner
  /** The scheduler starts to fire: recovers what earlier or failed nodes left, and takes part in the cluster. */
  start(transactor: SqlTransactor): Promise<void>
  /** Resolves when no other process may have taken over what this node works on; absent where none can. */
  mayClaim?(): Promise<void>
  /** Whether another node took over for good: what this one claimed or ran is void. Absent where none can. */
  isTakenOver?(): boolean
  /** The nodes of the cluster as this one sees them, once it was started; absent where there can be no others. */
  nodes?(): Promise<readonly ClusterNodeView[]>
  /**
   * Absent where nobody else can have a connection.
   *
   * @throws InvalidArgumentError when the handle is no connection to this database
   */
  join?(handle: object): JoinedRunner
  /** Asks the other nodes to interrupt; absent where there can be no others, or they do not listen. */
  interruptOnPeers?(target: InterruptTarget): Promise<void>
  /** Tells the other nodes, if there are any, that something may fire at this instant. Returns at once. */
  wakePeers(earliestMs: EpochMs): void
  /** Leaves the cluster and frees everything. */
  close(): Promise<void>
  /**
   * Gives up at once what is under way, and asks the database nothing more; then `close`, also one that has begun, ends
   * soon and leaves nothing behind.
   */
  cutOff(): void
}
