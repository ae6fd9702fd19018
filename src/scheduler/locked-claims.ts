import type { AcquiredTrigger } from '../jobstore/job-store.ts'
import type { EpochMs } from '../time/clock.ts'

const firstDelayMs = 20
const longestDelayMs = 250

/** A claim that could not be fired or given back because another session holds a lock on what that takes. */
export interface LockedClaim {
  readonly acquired: AcquiredTrigger
  /** Wall clock when it was asked for. */
  readonly sinceMs: EpochMs
}

/** Claims that the loop has set aside, and when it tries them again. Other claims do not wait for them. */
export class LockedClaims {
  #claims: readonly LockedClaim[] = []
  #delayMs = firstDelayMs
  #retryAtMs = Number.POSITIVE_INFINITY

  get all(): readonly LockedClaim[] {
    return this.#claims
  }

  /** Monotonic time of the next try; infinite while nothing is set aside. */
  get retryAtMs(): number {
    return this.#retryAtMs
  }

  isAnyDue(nowMs: EpochMs): boolean {
    return this.#claims.some(({ acquired: { trigger } }) => (trigger.nextFireTimeMs ?? nowMs) <= nowMs)
  }

  /** Sets claims aside. The loop tries them soon, then after longer and longer waits. */
  add(claims: readonly AcquiredTrigger[], sinceMs: EpochMs, elapsedMs: number): void {
    if (claims.length === 0) return
    this.#claims = [...this.#claims, ...claims.map((acquired) => ({ acquired, sinceMs }))]
    this.#delayMs = firstDelayMs
    this.#retryAtMs = Math.min(this.#retryAtMs, elapsedMs + firstDelayMs)
  }

  /** Takes claims out, to be tried. */
  take(claims: readonly LockedClaim[]): void {
    this.#claims = this.#claims.filter((claim) => !claims.includes(claim))
    if (this.#claims.length === 0) this.#retryAtMs = Number.POSITIVE_INFINITY
  }

  /** Puts claims back that are still locked; those that were not among the tried ones were asked for at `sinceMs`. */
  putBack(
    locked: readonly AcquiredTrigger[],
    { tried, sinceMs }: { readonly tried: readonly LockedClaim[]; readonly sinceMs: EpochMs },
    elapsedMs: number,
  ): void {
    const known = new Map(tried.map((claim) => [claim.acquired, claim]))
    const claims = locked.map((acquired) => known.get(acquired) ?? { acquired, sinceMs })
    this.#claims = [...this.#claims, ...claims]
    if (this.#claims.length === 0) return
    this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs)
    this.#retryAtMs = elapsedMs + this.#delayMs
  }

  /** Empties the list and answers what was in it. */
  takeAll(): readonly LockedClaim[] {
    const claims = this.#claims
    this.take(claims)
    return claims
  }
}
