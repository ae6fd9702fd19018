import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { NodeRequests } from './cluster-view.ts'
import type { EndedSharding } from './job-store-shards.ts'
import type { LockWait } from './lock-wait.ts'
import type { MissedFires } from './missed-fires.ts'
import type { LostExecution, NodeRecovery } from './node-recovery.ts'

/**
 * The calls of a store to its scheduler, which the store does not know otherwise. They return at once and never throw.
 */
export interface SchedulerSignaler extends NodeRequests {
  /** A misfire policy is about to be applied to this trigger. */
  triggerMisfired(trigger: Trigger): void
  /** A trigger was moved past planned instants. */
  firesMissed(missed: MissedFires): void
  /** This trigger will never fire again. */
  triggerFinalized(trigger: Trigger): void
  /** The store deleted a job because its last trigger was deleted. */
  jobDeleted(jobKey: JobKey): void
  /** A trigger went to the ERROR state. */
  triggerInError(triggerKey: TriggerKey, reason: string): void
  /** Something may fire earlier than was known: `candidateMs`, or null for "soon". */
  schedulingChanged(candidateMs: EpochMs | null): void
  storeError(message: string, cause: unknown): void
  /** Another node stopped checking in; its work is about to be recovered. */
  nodeFailed(node: string): void
  /** The work of a failed node, or of an earlier run, was recovered. */
  nodeRecovered(recovery: NodeRecovery): void
  executionLost(execution: LostExecution): void
  /** The last item of a firing of a sharded job has ended. */
  allShardsDone(firing: EndedSharding): void
  /** This node could not check in, and tries again. Called once until a check-in succeeds. */
  checkInFailed(error: unknown): void
  /** This node has checked in again, after so many attempts that failed. */
  checkInRestored(failedAttempts: number): void
  /**
   * Another node took this one for failed and recovered its work, or the row of this node was deleted: its claims and
   * executions are void.
   */
  recoveredByPeer(): void
  /**
   * The store's time is this much ahead of the context's clock, give or take the uncertainty. Stores that use that
   * clock never call it.
   */
  clockOffsetMeasured(offsetMs: number, uncertaintyMs: number): void
  /** A statement of this node waits for a lock for longer than the store's limit. */
  lockWaitExceeded(wait: LockWait): void
}
