import type { PostgresFault } from './postgres-errors.ts'

const baseDelayMs: Record<PostgresFault['reason'], number> = {
  busy: 10,
  serialization: 10,
  constraint: 5,
  schema: 0,
  connection: 100,
  unknown: 0,
}
const longestDelayMs = 2000

/**
 * How often and how soon one transaction is run again. Delays have full jitter, so that nodes that collided do not
 * collide again at the next attempt.
 */
export class TransactionRetry {
  readonly #random: () => number
  readonly #used = new Map<PostgresFault['reason'], number>()

  constructor(random: () => number) {
    this.#random = random
  }

  /** Counts one failure; how long to wait before the next attempt, or null when there is none. */
  delayAfter({ reason, retries }: PostgresFault): number | null {
    const used = (this.#used.get(reason) ?? 0) + 1
    this.#used.set(reason, used)
    if (used > retries) return null
    return Math.floor(this.#random() * backoffMs(baseDelayMs[reason], used))
  }
}

/** Doubles with each attempt, up to two seconds. */
export function backoffMs(baseMs: number, attempt: number): number {
  return Math.min(longestDelayMs, baseMs * 2 ** Math.min(attempt, 20))
}
