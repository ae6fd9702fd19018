import type { AcquiredTrigger, JobStore } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import type { Gate } from '../time/gate.ts'
import { endUnanswered } from './end-unanswered.ts'
import type { LoopFailures } from './loop-failures.ts'
import type { Notifier } from './notifier.ts'

/** How often a halting loop tries to release its claims before it leaves them to recovery. */
const releaseAttemptsMax = 10
/** The longest pause between these tries, whatever the store asks for, so that a halt is short. */
const haltRetryMs = 500
/** How long a halting loop waits for a lock, again and again: most are those of another node's search. */
const haltLockWaitsMs = [10, 20, 40, 80, 160]

export const unreturned = 'Acquired triggers could not be released before the halt.'

export interface GivingBackParts {
  readonly clock: Clock
  readonly jobStore: JobStore
  readonly gate: Gate
  readonly notifier: Notifier
  readonly failures: LoopFailures
  readonly backOff: (message: string, error: unknown) => void
  readonly isHalted: () => boolean
  readonly isAbandoned: () => boolean
}

/** Releases claims in a store that may fail, or where another session's lock is in the way. */
export class GivingBack {
  readonly #parts: GivingBackParts

  constructor(parts: GivingBackParts) {
    this.#parts = parts
  }

  /** Answers the claims that are locked. Without an answer of the store, they may have been fired. */
  release(claims: readonly AcquiredTrigger[], isAnswered = true): Promise<readonly AcquiredTrigger[]> {
    const { jobStore } = this.#parts
    return this.tryUntilDone(async () => {
      const held = await jobStore.releaseAcquiredTriggers(claims)
      if (!isAnswered) await endUnanswered(jobStore, claims, held)
      return held
    })
  }

  /**
   * Answers the claims that are locked. When the store fails, the loop tries again until it succeeds; a halting loop
   * leaves the claims to recovery after some tries.
   */
  async tryUntilDone(
    giveBack: () => Promise<readonly AcquiredTrigger[]>,
  ): Promise<readonly AcquiredTrigger[]> {
    const { backOff, clock, failures, gate, isAbandoned, isHalted, notifier } = this.#parts
    for (let attempts = 1; !isAbandoned(); ) {
      try {
        return await giveBack()
      } catch (error) {
        backOff('The job store could not take back acquired triggers.', error)
        if (isHalted() && attempts++ === releaseAttemptsMax) {
          notifier.error(unreturned, error)
          return []
        }
        const waitMs = failures.retryAtMs - clock.elapsedMs()
        await gate.wait(isHalted() ? Math.min(waitMs, haltRetryMs) : waitMs)
      }
    }
    return []
  }

  /** For a halting loop, which waits a little for locks; answers the claims that are still locked. */
  async waitForLocks(locked: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    let left = locked
    for (const waitMs of haltLockWaitsMs) {
      if (left.length === 0 || this.#parts.isAbandoned()) break
      await this.#parts.gate.wait(waitMs)
      left = await this.release(left)
    }
    return left
  }
}
