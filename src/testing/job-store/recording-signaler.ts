import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { InterruptTarget, NodeOrder } from '../../jobstore/cluster-view.ts'
import type { EndedSharding } from '../../jobstore/job-store-shards.ts'
import type { LockWait } from '../../jobstore/lock-wait.ts'
import type { MissedFires } from '../../jobstore/missed-fires.ts'
import type { LostExecution, NodeRecovery } from '../../jobstore/node-recovery.ts'
import type { SchedulerSignaler } from '../../jobstore/scheduler-signaler.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { Trigger } from '../../triggers/trigger.ts'

/** Records every call of a store to its scheduler. */
export class RecordingSignaler implements SchedulerSignaler {
  readonly misfired: Trigger[] = []
  readonly missed: MissedFires[] = []
  readonly finalized: Trigger[] = []
  readonly deletedJobs: string[] = []
  readonly inError: { readonly key: string; readonly reason: string }[] = []
  readonly candidates: (EpochMs | null)[] = []
  readonly errors: { readonly message: string; readonly cause: unknown }[] = []
  readonly failedNodes: string[] = []
  readonly recoveries: NodeRecovery[] = []
  readonly lostExecutions: LostExecution[] = []
  readonly endedShardings: EndedSharding[] = []
  readonly interrupts: InterruptTarget[] = []
  readonly orders: NodeOrder[] = []
  readonly lockWaits: LockWait[] = []
  /** Streaks of check-ins that failed: how each began and ended. */
  readonly checkIns: (
    | { readonly kind: 'failed'; readonly cause: unknown }
    | { readonly kind: 'restored'; readonly failedAttempts: number }
  )[] = []
  readonly clockOffsets: { readonly offsetMs: number; readonly uncertaintyMs: number }[] = []
  /** How often this node was told that a peer recovered it. */
  recoveriesByPeers = 0

  triggerMisfired(trigger: Trigger): void {
    this.misfired.push(trigger)
  }
  firesMissed(missed: MissedFires): void {
    this.missed.push(missed)
  }
  triggerFinalized(trigger: Trigger): void {
    this.finalized.push(trigger)
  }
  jobDeleted(jobKey: JobKey): void {
    this.deletedJobs.push(jobKey.toString())
  }
  triggerInError(triggerKey: TriggerKey, reason: string): void {
    this.inError.push({ key: triggerKey.toString(), reason })
  }
  schedulingChanged(candidateMs: EpochMs | null): void {
    this.candidates.push(candidateMs)
  }
  storeError(message: string, cause: unknown): void {
    this.errors.push({ message, cause })
  }
  nodeFailed(node: string): void {
    this.failedNodes.push(node)
  }
  nodeRecovered(recovery: NodeRecovery): void {
    this.recoveries.push(recovery)
  }
  executionLost(execution: LostExecution): void {
    this.lostExecutions.push(execution)
  }
  allShardsDone(firing: EndedSharding): void {
    this.endedShardings.push(firing)
  }
  checkInFailed(cause: unknown): void {
    this.checkIns.push({ kind: 'failed', cause })
  }
  checkInRestored(failedAttempts: number): void {
    this.checkIns.push({ kind: 'restored', failedAttempts })
  }
  recoveredByPeer(): void {
    this.recoveriesByPeers++
  }
  clockOffsetMeasured(offsetMs: number, uncertaintyMs: number): void {
    this.clockOffsets.push({ offsetMs, uncertaintyMs })
  }
  interruptRequested(target: InterruptTarget): void {
    this.interrupts.push(target)
  }
  nodeOrdered(order: NodeOrder): void {
    this.orders.push(order)
  }
  lockWaitExceeded(wait: LockWait): void {
    this.lockWaits.push(wait)
  }

  /** Forgets everything noted so far. */
  clear(): void {
    this.misfired.length = 0
    this.missed.length = 0
    this.finalized.length = 0
    this.deletedJobs.length = 0
    this.inError.length = 0
    this.candidates.length = 0
    this.errors.length = 0
    this.failedNodes.length = 0
    this.recoveries.length = 0
    this.lostExecutions.length = 0
    this.endedShardings.length = 0
    this.clockOffsets.length = 0
    this.recoveriesByPeers = 0
    this.interrupts.length = 0
    this.orders.length = 0
    this.lockWaits.length = 0
    this.checkIns.length = 0
  }

  /** Whether the store signalled that a trigger may fire at `timeMs`, by that time, an earlier one or "soon". */
  announced(timeMs: EpochMs): boolean {
    return this.candidates.some((candidateMs) => candidateMs === null || candidateMs <= timeMs)
  }
}
