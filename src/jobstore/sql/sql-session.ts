import type { EpochMs } from '../../time/clock.ts'
import type { JobStoreContext } from '../job-store.ts'
import type { SignalBuffer } from '../signal-buffer.ts'
import type { CalendarTable } from './calendar-table.ts'
import type { CommitNotes } from './commit-notes.ts'
import type { FireOffers } from './fire-offers.ts'
import type { FiredTriggerTable } from './fired-trigger-table.ts'
import type { FiringLedger } from './firing-ledger.ts'
import type { HistoryTable } from './history-table.ts'
import type { JobGroupLimits } from './job-group-limits.ts'
import type { JobTable } from './job-table.ts'
import type { KeyLists } from './key-lists.ts'
import type { PausedGroupTable } from './paused-group-table.ts'
import type { SearchMemory } from './search-memory.ts'
import type { SqlVocabulary } from './sql-vocabulary.ts'
import type { TriggerScopes } from './trigger-scopes.ts'
import type { TriggerTable } from './trigger-table.ts'
import type { TriggersOfJava } from './triggers-of-java.ts'

/** A store at work for one scheduler: its tables, each the one place that knows its statements and encodings. */
export interface SqlSession extends SqlVocabulary {
  readonly context: JobStoreContext
  readonly jobs: JobTable
  readonly triggers: TriggerTable
  readonly calendars: CalendarTable
  readonly pausedGroups: PausedGroupTable
  readonly firedTriggers: FiredTriggerTable
  readonly history: HistoryTable
  readonly keyLists: KeyLists
  readonly scopes: TriggerScopes
  readonly searchMemory: SearchMemory
  /** Whether other nodes may work on the same tables. */
  readonly clustered: boolean
  /** Null where no Java nodes share the tables. */
  readonly triggersOfJava: TriggersOfJava | null
  /** Null where no group is limited. */
  readonly groupLimits: JobGroupLimits | null
  readonly ledger: FiringLedger
  /** A fire instance id that nobody had before. */
  nextFireInstanceId(): string
}

/**
 * One attempt at one transaction. What it has to tell the scheduler, and what the node is to remember of it, is kept
 * until it was committed, and forgotten when it is run again.
 */
export interface SqlTransaction {
  readonly session: SqlSession
  readonly signals: SignalBuffer
  /** The instant of the transaction: one for all that it decides. */
  readonly nowMs: EpochMs
  readonly offers: FireOffers
  readonly notes: CommitNotes
}
