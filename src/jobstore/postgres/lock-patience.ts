import type { TransactionOptions } from '../sql/kernel/sql-runner.ts'
import type { LockingStrategy } from './locking.ts'
import type { SlowWatch } from './postgres-session.ts'

/** How long a transaction waits for one lock before it is given up: longer than ours are held when nothing is wrong. */
const briefMs = 25
/** How long one waits now and then so that it can be seen who holds the lock. */
const watchedMs = 250
/** When it is looked at then. */
const lookAfterMs = 20
const firstPauseMs = 20
const longestPauseMs = 200

export interface LockPatienceOptions {
  /** How often a wait is looked at, and how it is reported; null: never. */
  readonly slow: SlowWatch | null
  /** The longest that an operation waits for locks; 0: without end. Milliseconds. */
  readonly lockTimeoutMs: number
  readonly elapsedMs: () => number
  readonly random: () => number
}

/** What one attempt at a transaction does about locks. */
export interface LockAttempt {
  /** For one lock, in milliseconds; null: as long as other transactions do. */
  readonly lockTimeoutMs: number | null
  /** Null: as other transactions. */
  readonly slow: SlowWatch | null
}

/**
 * How one transaction behaves while another session holds a lock that it needs. It waits in the queue of the server
 * for a moment only, and comes back later: in between it holds no connection, no lock, and no place in a queue in which
 * others would wait behind it. Who holds the lock can be seen only from the queue, so it waits there for a little
 * longer once in each `afterMs`, until that was told.
 */
export class LockPatience {
  readonly #options: LockPatienceOptions
  readonly #startedMs: number
  #attempts = 0
  #lookAtMs: number
  #isTold = false

  constructor(options: LockPatienceOptions) {
    this.#options = options
    this.#startedMs = options.elapsedMs()
    this.#lookAtMs = options.slow?.afterMs ?? Number.POSITIVE_INFINITY
  }

  next(): LockAttempt {
    const { slow, lockTimeoutMs } = this.#options
    const waitedMs = this.#waitedMs()
    if (slow === null || this.#isTold || waitedMs < this.#lookAtMs) {
      return { lockTimeoutMs: lockTimeoutMs > 0 ? Math.min(briefMs, lockTimeoutMs) : briefMs, slow: null }
    }
    this.#lookAtMs = waitedMs + slow.afterMs
    return {
      lockTimeoutMs: watchedMs,
      slow: {
        afterMs: lookAfterMs,
        report: (statement) => {
          slow.report({
            ...statement,
            waitedMs: waitedMs + statement.waitedMs,
            onTold: () => {
              this.#isTold = true
            },
          })
        },
      },
    }
  }

  /** How long to pause after a lock was not to be had; null: the time is over. */
  pauseMs(): number | null {
    const { lockTimeoutMs, random } = this.#options
    if (lockTimeoutMs > 0 && this.#waitedMs() >= lockTimeoutMs) return null
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#attempts++, 10))
    return pauseMs * (0.5 + 0.5 * random())
  }

  #waitedMs(): number {
    return this.#options.elapsedMs() - this.#startedMs
  }
}

/** Whether a transaction is given up when a lock is not to be had soon, instead of waiting for it. */
export function isGivenUp(
  { lock, whenLocked }: Pick<TransactionOptions, 'lock' | 'whenLocked'>,
  { waitsInTurn }: LockingStrategy,
): boolean {
  return whenLocked !== 'wait' && lock !== 'schema' && lock !== 'none' && !waitsInTurn
}
