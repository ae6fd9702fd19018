import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'

/** An execution that was in flight on a node that failed, and that is not run again. */
export interface LostExecution {
  readonly fireInstanceId: string
  /** The node that failed. */
  readonly node: string
  /** Null when the row does not name its job. */
  readonly jobKey: JobKey | null
  readonly triggerKey: TriggerKey
  readonly scheduledFireTimeMs: EpochMs
  /** Why it is not run again: a clause. */
  readonly reason: string
}

/** What recovery did with the work of a node that failed. */
export interface NodeRecovery {
  /** The node that failed; the scheduler's own id when the work was left by an earlier run. */
  readonly node: string
  /** Triggers that wait again. */
  readonly releasedClaims: number
  /** Executions that run again, under a recovery trigger each. */
  readonly recoveredExecutions: number
  readonly lostExecutions: number
}
