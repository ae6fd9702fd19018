import type Database from 'better-sqlite3'
import type { JobExecutionContext, JobSource } from '../../src/jobs/job-definition.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { Run } from './sim-cluster-judge.ts'
import type { LedgerRow } from './sim-cluster-ledger.ts'
import type { SimProcess } from './sim-cluster-node.ts'

/** What each job of the simulation does: it is noted, and takes a while. */
export type Work = (context: JobExecutionContext) => Promise<void>

export type GuestKind = 'shards' | 'remotes'

/** What a simulated cluster may have beside the rest. */
export interface ClusterExtras {
  readonly guests?: GuestKind | null
  /** Whether nodes see the end of each other's sessions. Default: false. */
  readonly sessions?: boolean
}

/** Users of a simulated cluster who have jobs of a kind of their own, beside what all of them do. */
export interface SimGuests {
  /** No trigger plans anything after this, and nothing goes on. */
  readonly lastPlannedMs: number
  /** Whether the others only store their jobs, and do nothing. */
  readonly areAlone: boolean
  keepLedger(database: Database.Database): void
  /** Their jobs, as a node has them. */
  jobs(work: Work, process: SimProcess): readonly JobSource[]
  /** Whether a node claims what is due and fires it by a transaction of its own. Default: it does not. */
  claimsFirst?(): boolean
  watch(scheduler: Scheduler): void
  populate(scheduler: Scheduler): Promise<void>
  /** Does one thing, at random. */
  run(scheduler: Scheduler): Promise<unknown>
  /** Something that is to go well because all is calm. */
  scheduleLast?(scheduler: Scheduler): Promise<void>
  judge(ledger: readonly LedgerRow[], runs: readonly Run[]): readonly string[]
}
