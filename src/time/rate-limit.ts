import type { Clock } from './clock.ts'

interface Bucket {
  tokens: number
  atMs: number
}

/** How many clients are remembered; the one that was seen longest ago is forgotten first. */
const clientsMax = 10_000

/** Lets each client have so many requests a minute, and as many at once. */
export class RateLimit {
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #buckets = new Map<string, Bucket>()

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** Counts a request. Answers after how many milliseconds there is room for one, or 0 when this one may pass. */
  take(client: string): number {
    const nowMs = this.#clock.elapsedMs()
    const bucket = this.#buckets.get(client) ?? { tokens: this.#perMinute, atMs: nowMs }
    const perMs = this.#perMinute / 60_000
    bucket.tokens = Math.min(this.#perMinute, bucket.tokens + (nowMs - bucket.atMs) * perMs)
    bucket.atMs = nowMs
    this.#buckets.delete(client)
    this.#buckets.set(client, bucket)
    const oldest = this.#buckets.keys().next()
    if (this.#buckets.size > clientsMax && oldest.done === false) this.#buckets.delete(oldest.value)
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perMs)
    bucket.tokens--
    return 0
  }

  /** Counts a request no more. */
  giveBack(client: string): void {
    const bucket = this.#buckets.get(client)
    if (bucket !== undefined) bucket.tokens = Math.min(this.#perMinute, bucket.tokens + 1)
  }
}
