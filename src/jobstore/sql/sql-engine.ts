import type { EpochMs } from '../../time/clock.ts'
import type { JobStoreChanges } from '../change-watch.ts'
import type { InterruptTarget, NodeOrder } from '../cluster-view.ts'
import type { JobStoreCapabilities } from '../job-store-capabilities.ts'
import type { LockWait } from '../lock-wait.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import type { ClusterNodeView } from './cluster/cluster-node.ts'
import type { SqlRunner } from './kernel/sql-runner.ts'
import type { SqlProgram } from './kernel/statement.ts'
import type { SchemaVocabulary } from './migrations/plan-migrations.ts'
import type { SqlSession, SqlTransaction } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import type { JobDataEncoding } from './tables/encoding/job-data-text.ts'
import type { JobGroupLimitsByGroup } from './tables/firings/job-group-limits.ts'

/** A database of the SQL store: its capabilities and its connections. */
export interface SqlEngine extends SchemaVocabulary {
  /** The name of the store, for people. */
  readonly name: string
  readonly capabilities: Pick<
    JobStoreCapabilities,
    'persistent' | 'clustered' | 'sharedTransactions' | 'longestLockWaitMs'
  >
  readonly encoding: JobDataEncoding
  /** Java nodes may work on the same tables. Default false. */
  readonly sharedWithJava?: boolean
  readonly records: ResolvedRecordOptions
  /** Most records that one transaction writes, since making its rows blocks the event loop. Default: no limit. */
  readonly recordsAtOnce?: number
  /**
   * Whether the runner runs a transaction again when a key that it stores is taken, and a look at many keys takes long,
   * so that it pays to store them first. Default: false.
   */
  readonly storesBeforeLooks?: boolean
  /** Default: no group is limited. */
  readonly jobGroupLimits?: JobGroupLimitsByGroup
  /**
   * Runs what looks at the tables, makes or changes them, on a separate connection. What `onLockWait` throws is
   * ignored.
   */
  onSchema<Answer>(
    work: (runner: SqlRunner) => Promise<Answer>,
    watch?: { readonly onLockWait?: (wait: LockWait) => void },
  ): Promise<Answer>
  /** Connects, and makes or checks the tables. */
  connect(session: SqlSession): Promise<SqlConnection>
}

/** Runs programs inside of a transaction that the user began and will end. */
export interface JoinedRunner extends Pick<SqlRunner, 'transact' | 'read'> {
  /** Called when a program lets a trigger fire earlier: the loops are woken when the transaction has ended. */
  wake(earliestMs: EpochMs): SqlProgram<void>
  /** Called when a program has changed something and lets no trigger fire earlier. */
  tellChange?(): SqlProgram<void>
}

export interface SqlConnection {
  readonly runner: SqlRunner
  /** The scheduler starts to fire: recovers the work of earlier or failed nodes, and registers in the cluster. */
  start(transactor: SqlTransactor): Promise<void>
  /** Resolves when it is certain that no other process has taken over this node's work; absent where none can. */
  mayClaim?(): Promise<void>
  /** Whether that is certain now. Absent where `mayClaim` is. */
  mayClaimNow?(): boolean
  /** As that of `JobStoreCluster`. Absent where `mayClaim` is. */
  confirmFirings?(): Promise<void> | undefined
  /**
   * Whether another process has taken over for good: this one's claims and executions are void. Absent where none can.
   */
  isTakenOver?(): boolean
  /** The nodes of the cluster as this one sees them, also before it starts; absent where there is one node only. */
  nodes?(transactor: SqlTransactor): Promise<readonly ClusterNodeView[]>
  /**
   * Absent where no other connection is possible.
   *
   * @throws InvalidArgumentError when the handle is not a connection to this database
   */
  join?(handle: object): JoinedRunner
  /** Asks the other nodes to interrupt; absent where there is one node only, or nodes do not listen. */
  interruptOnPeers?(target: InterruptTarget): Promise<void>
  /** Asks another node; absent where there is one node only, or nodes do not listen. */
  orderPeer?(instanceId: string, order: NodeOrder): Promise<void>
  /** Checks in soon, so that other nodes see what this one reports. Returns at once. */
  announce?(): void
  /**
   * Recovers a node that has missed check-ins; absent where there is one node only.
   *
   * @throws SchedulerError ERR_NOT_FOUND, ERR_NODE_ALIVE
   */
  removeNode?(transactor: SqlTransactor, instanceId: string): Promise<void>
  /** Refuses a change of jobs, triggers or calendars, in its transaction. Absent where none is refused. */
  requireMayChange?(tx: SqlTransaction): SqlProgram<void>
  /** Wakes the other nodes, if there are any, for a trigger that may fire at this instant. Returns at once. */
  wakePeers(earliestMs: EpochMs): void
  /**
   * Tells the other nodes, if there are any, that jobs, triggers or calendars have changed. Not called beside
   * `wakePeers`. Returns at once.
   */
  tellChange?(): void
  /** Absent where no other process changes the data. */
  watchChanges?: JobStoreChanges['watch']
  /** Leaves the cluster and frees all resources. */
  close(): Promise<void>
  /**
   * Gives up operations under way at once and sends nothing more to the database; then `close`, also one that has
   * begun, ends soon and leaves no resource open.
   */
  cutOff(): void
}
