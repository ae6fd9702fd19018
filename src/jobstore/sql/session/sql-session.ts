import type { EpochMs } from '../../../time/clock.ts'
import type { JobStoreContext } from '../../job-store.ts'
import type { SignalBuffer } from '../../signal-buffer.ts'
import type { CommitNotes } from '../kernel/commit-notes.ts'
import type { CalendarTable } from '../tables/calendars/calendar-table.ts'
import type { AwaitedResultTable } from '../tables/firings/awaited-result-table.ts'
import type { FiredTriggerTable } from '../tables/firings/fired-trigger-table.ts'
import type { JobGroupLimits } from '../tables/firings/job-group-limits.ts'
import type { SplitFiringTable } from '../tables/firings/split-firing-table.ts'
import type { PausedGroupTable } from '../tables/groups/paused-group-table.ts'
import type { HistoryTable } from '../tables/history/history-table.ts'
import type { JobTable } from '../tables/jobs/job-table.ts'
import type { OrphanDeletion } from '../tables/jobs/orphan-deletion.ts'
import type { KeyLists } from '../tables/lists/key-lists.ts'
import type { Listings } from '../tables/lists/listings.ts'
import type { NextTriggers } from '../tables/lists/next-triggers.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'
import type { SchedulerStateTable } from '../tables/nodes/scheduler-state-table.ts'
import type { NoteTable } from '../tables/notes/note-table.ts'
import type { AuditTable } from '../tables/records/audit-table.ts'
import type { ExecutionLogTable } from '../tables/records/execution-log-table.ts'
import type { ExecutionProgressTable } from '../tables/records/execution-progress-table.ts'
import type { JobStatusTable } from '../tables/records/job-status-table.ts'
import type { MisfireTable } from '../tables/records/misfire-table.ts'
import type { DataOfTriggers } from '../tables/triggers/data-of-triggers.ts'
import type { LockedEnds } from '../tables/triggers/locked-ends.ts'
import type { PauseTable } from '../tables/triggers/pause-table.ts'
import type { PlainEnds } from '../tables/triggers/plain-ends.ts'
import type { TriggerScopes } from '../tables/triggers/trigger-scopes.ts'
import type { TriggerTable } from '../tables/triggers/trigger-table.ts'
import type { TriggersOfJava } from '../tables/triggers/triggers-of-java.ts'
import type { FireOffers } from './fire-offers.ts'
import type { FiringLedger } from './firing-ledger.ts'
import type { SearchMemory } from './search-memory.ts'
import type { ToldRows } from './told-rows.ts'

/** How this node sees the others, and they it. */
export interface NodeHealth {
  /** Recovery replaces it when it begins to watch them. */
  isAlive: (row: NodeRow, nowMs: EpochMs) => boolean
  /** How often this node has learnt that others had recovered what it had in flight. */
  timesRecovered: number
}

/** A store while one scheduler uses it: its tables, each the only place with its statements and encodings. */
export interface SqlSession {
  readonly context: JobStoreContext
  readonly jobs: JobTable
  readonly triggers: TriggerTable
  readonly triggerData: DataOfTriggers
  readonly calendars: CalendarTable
  readonly pausedGroups: PausedGroupTable
  readonly pauses: PauseTable
  readonly firedTriggers: FiredTriggerTable
  /**
   * How executions end that leave only their own rows: without a lock, where a transaction excludes other writers. Null
   * for a dialect that knows no places of rows.
   */
  readonly plainEnds: PlainEnds | LockedEnds | null
  readonly splitFirings: SplitFiringTable
  readonly awaitedResults: AwaitedResultTable
  readonly history: HistoryTable
  readonly jobStatus: JobStatusTable
  readonly executionLog: ExecutionLogTable
  readonly executionProgress: ExecutionProgressTable
  readonly misfires: MisfireTable
  readonly audit: AuditTable
  readonly nodes: SchedulerStateTable
  readonly notes: NoteTable
  readonly keyLists: KeyLists
  readonly listings: Listings
  readonly nextTriggers: NextTriggers
  readonly scopes: TriggerScopes
  readonly searchMemory: SearchMemory
  readonly toldRows: ToldRows
  /** Whether other nodes may use the same tables. */
  readonly clustered: boolean
  /** Null where no Java nodes share the tables. */
  readonly triggersOfJava: TriggersOfJava | null
  /** Null where no group is limited. */
  readonly groupLimits: JobGroupLimits | null
  readonly ledger: FiringLedger
  readonly nodeHealth: NodeHealth
  /** Nodes that had open items in broadcasts that this one has changed since its last check-in. */
  readonly itemOwners: Set<string>
  /** Makes a unique fire instance id. */
  nextFireInstanceId(): string
}

/**
 * One attempt at one transaction. Its signals and its notes for the node's memory are kept until the commit, and
 * dropped when the transaction is run again.
 */
export interface SqlTransaction {
  readonly session: SqlSession
  readonly signals: SignalBuffer
  /** The instant of the transaction, by which it decides everything. */
  readonly nowMs: EpochMs
  /** As `NodeHealth` had it when the transaction began. */
  readonly timesRecovered: number
  readonly offers: FireOffers
  readonly notes: CommitNotes
  /** The server answers these together with the COMMIT; the signals behind it say which jobs are gone. */
  readonly deletions: OrphanDeletion[]
}
