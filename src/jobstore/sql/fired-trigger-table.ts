import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { SqlProgram } from './statement.ts'

export interface FiredRow {
  readonly fireInstanceId: string
  readonly triggerKey: TriggerKey
  readonly jobKey: JobKey | null
  readonly instanceId: string
  readonly state: 'ACQUIRED' | 'EXECUTING'
  readonly firedTimeMs: EpochMs
  readonly plannedTimeMs: EpochMs
  readonly priority: number
  readonly nonConcurrent: boolean
  readonly requestsRecovery: boolean
}

/** The rows of `fired_triggers`: claims (ACQUIRED) and executions in flight (EXECUTING). */
export interface FiredTriggerTable {
  insert(rows: readonly FiredRow[]): SqlProgram<void>
  /** Locks those of the rows that are this scheduler instance's and answers them. */
  lock(fireInstanceIds: readonly string[]): SqlProgram<readonly FiredRow[]>
  /** Turns claims into executions. */
  begin(rows: readonly FiredRow[]): SqlProgram<void>
  /** Deletes those of the rows that are this scheduler instance's and in this state; answers them. */
  delete(fireInstanceIds: readonly string[], state: FiredRow['state']): SqlProgram<readonly FiredRow[]>
  /** Deletes every claim of this scheduler instance; answers them. */
  deleteAllClaims(): SqlProgram<readonly FiredRow[]>
  /** Deletes claims whose trigger is not ACQUIRED any more: whoever took it out of that state calls this. */
  deleteStaleClaims(): SqlProgram<void>
  /** Which of these jobs have an execution in flight, on any node. */
  executing(jobKeys: readonly JobKey[]): SqlProgram<readonly JobKey[]>
  /** Which of these jobs have a claim or an execution in flight, on any node. */
  busy(jobKeys: readonly JobKey[]): SqlProgram<readonly JobKey[]>
}
