import { witnessGraceMs } from './witness.ts'

/** What a check-in says of the witness in the row: another way may have written the row at the same time. */
export type WitnessNaming = 'named' | 'none' | 'unknown'

/** For this share of the time until peers may recover this node, the node relies on not having been recovered. */
const trustedShare = 0.8

/**
 * For how long this node relies on not having been recovered by a peer. Without a witness that is a share of the
 * silence after which it has failed. While its row may name a witness, peers may recover it as soon as the grace after
 * the end of its session has passed, so it needs a recent proof that the session lives as well.
 */
export class NodeTrust {
  readonly #failedAfterMs: number
  readonly #graceMs: number
  #checkedInMs = Number.NEGATIVE_INFINITY
  #provenMs = Number.NEGATIVE_INFINITY
  #witness: 'none' | 'held' | 'lost' = 'none'

  constructor({ failedAfterMs }: { readonly failedAfterMs: number }) {
    this.#failedAfterMs = failedAfterMs
    this.#graceMs = witnessGraceMs(failedAfterMs)
  }

  /** A check-in, or the registration, succeeded; `sentMs` is on the clock's monotonic time. */
  checkedIn(sentMs: number, naming: WitnessNaming): void {
    this.#checkedInMs = Math.max(this.#checkedInMs, sentMs)
    this.#provenMs = Math.max(this.#provenMs, sentMs)
    if (naming === 'named') this.#witness = 'held'
    else if (naming === 'none' || this.#witness === 'lost') this.#witness = 'none'
  }

  /** The session that holds the witness answered. */
  proven(sentMs: number): void {
    this.#provenMs = Math.max(this.#provenMs, sentMs)
    this.#witness = 'held'
  }

  /** The session has ended; answers whether it held the witness. */
  lost(): boolean {
    if (this.#witness !== 'held') return false
    this.#witness = 'lost'
    return true
  }

  /** `provenMs` is when the session that holds the witness answered last, as its thread knows. */
  holdsAt(elapsedMs: number, provenMs: number): boolean {
    if (elapsedMs >= this.#checkedInMs + trustedShare * this.#failedAfterMs) return false
    return (
      this.#witness === 'none' ||
      elapsedMs < Math.max(this.#provenMs, provenMs) + trustedShare * this.#graceMs
    )
  }
}
