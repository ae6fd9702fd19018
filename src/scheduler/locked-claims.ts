import type { AcquiredTrigger } from '../jobstore/job-store.ts'
import type { EpochMs } from '../time/clock.ts'
import { LockRetry } from './lock-retry.ts'

/** A claim that could not be fired or given back because another session holds a lock on what that takes. */
export interface LockedClaim {
  readonly acquired: AcquiredTrigger
  /** Wall clock when it was asked for. */
  readonly sinceMs: EpochMs
}

/** Claims that the loop has set aside, and when it tries them again. Other claims do not wait for them. */
export class LockedClaims {
  #claims: readonly LockedClaim[] = []
  readonly #retry = new LockRetry()

  get all(): readonly LockedClaim[] {
    return this.#claims
  }

  /** Monotonic time of the next try; infinite while nothing is set aside. */
  get retryAtMs(): number {
    return this.#retry.atMs
  }

  isAnyDue(nowMs: EpochMs): boolean {
    return this.#claims.some(({ acquired: { trigger } }) => (trigger.nextFireTimeMs ?? nowMs) <= nowMs)
  }

  /** Sets claims aside. */
  add(claims: readonly AcquiredTrigger[], sinceMs: EpochMs, elapsedMs: number): void {
    if (claims.length === 0) return
    this.#claims = [...this.#claims, ...claims.map((acquired) => ({ acquired, sinceMs }))]
    this.#retry.added(elapsedMs)
  }

  /** Takes all claims out, to be tried. */
  takeAll(): readonly LockedClaim[] {
    const claims = this.#claims
    this.#claims = []
    this.#retry.emptied()
    return claims
  }

  /** Puts claims back that are still locked; those that were not among the tried ones were asked for at `sinceMs`. */
  putBack(
    locked: readonly AcquiredTrigger[],
    { tried, sinceMs }: { readonly tried: readonly LockedClaim[]; readonly sinceMs: EpochMs },
    elapsedMs: number,
  ): void {
    if (locked.length === 0) return
    const known = new Map(tried.map((claim) => [claim.acquired, claim]))
    this.#claims = locked.map((acquired) => known.get(acquired) ?? { acquired, sinceMs })
    this.#retry.tried(elapsedMs)
  }
}
