import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { InterruptTarget } from './cluster-view.ts'
import type { LostExecution, NodeRecovery, SchedulerSignaler } from './job-store.ts'
import type { LockWait } from './lock-wait.ts'

/**
 * Keeps what an operation has to tell the scheduler until the operation is whole: whoever hears of it may call the
 * store again at once, and must not meet it half-way.
 */
export class SignalBuffer implements SchedulerSignaler {
  #kept: ((signaler: SchedulerSignaler) => void)[] = []

  triggerMisfired(trigger: Trigger): void {
    this.#kept.push((signaler) => {
      signaler.triggerMisfired(trigger)
    })
  }
  triggerFinalized(trigger: Trigger): void {
    this.#kept.push((signaler) => {
      signaler.triggerFinalized(trigger)
    })
  }
  jobDeleted(jobKey: JobKey): void {
    this.#kept.push((signaler) => {
      signaler.jobDeleted(jobKey)
    })
  }
  triggerInError(triggerKey: TriggerKey, reason: string): void {
    this.#kept.push((signaler) => {
      signaler.triggerInError(triggerKey, reason)
    })
  }
  schedulingChanged(candidateMs: EpochMs | null): void {
    this.#kept.push((signaler) => {
      signaler.schedulingChanged(candidateMs)
    })
  }
  storeError(message: string, cause: unknown): void {
    this.#kept.push((signaler) => {
      signaler.storeError(message, cause)
    })
  }
  nodeFailed(instanceId: string): void {
    this.#kept.push((signaler) => {
      signaler.nodeFailed(instanceId)
    })
  }
  nodeRecovered(recovery: NodeRecovery): void {
    this.#kept.push((signaler) => {
      signaler.nodeRecovered(recovery)
    })
  }
  executionLost(execution: LostExecution): void {
    this.#kept.push((signaler) => {
      signaler.executionLost(execution)
    })
  }
  checkInFailed(cause: unknown): void {
    this.#kept.push((signaler) => {
      signaler.checkInFailed(cause)
    })
  }
  checkInRestored(failedAttempts: number): void {
    this.#kept.push((signaler) => {
      signaler.checkInRestored(failedAttempts)
    })
  }
  recoveredByPeer(): void {
    this.#kept.push((signaler) => {
      signaler.recoveredByPeer()
    })
  }
  clockOffsetMeasured(offsetMs: number, uncertaintyMs: number): void {
    this.#kept.push((signaler) => {
      signaler.clockOffsetMeasured(offsetMs, uncertaintyMs)
    })
  }
  interruptRequested(target: InterruptTarget): void {
    this.#kept.push((signaler) => {
      signaler.interruptRequested(target)
    })
  }
  lockWaitExceeded(wait: LockWait): void {
    this.#kept.push((signaler) => {
      signaler.lockWaitExceeded(wait)
    })
  }

  /** For what is known only when the operation is whole. */
  whenTold(tell: (signaler: SchedulerSignaler) => void): void {
    this.#kept.push(tell)
  }

  /** Tells the scheduler everything kept, in order. */
  flush(signaler: SchedulerSignaler): void {
    if (this.#kept.length === 0) return
    const kept = this.#kept
    this.#kept = []
    for (const tell of kept) tell(signaler)
  }
}
