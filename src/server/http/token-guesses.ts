import type { RateLimit } from '../../time/rate-limit.ts'
import { tokenHashOf } from '../auth/tokens.ts'
import type { Principal } from '../catalogue/role.ts'

const rightTokensMax = 1000

/** Who asks, and after how many milliseconds a client may send new tokens again that has used up its wrong ones. */
export interface Asker {
  readonly principal: Principal | null
  readonly waitMs: number
}

/**
 * Asks the host about tokens: new ones of a client no longer once too many were wrong. One that was right before goes
 * on, or a guesser would lock out others behind the same proxy.
 */
export class TokenGuesses {
  readonly #limit: RateLimit
  /** The hashes of clients with tokens that were right. */
  readonly #right = new Set<string>()
  /** By client: the questions about new tokens that the host has not answered. */
  readonly #open = new Map<string, Set<Promise<void>>>()

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  async ask(client: string, token: string, host: () => Promise<Principal | null>): Promise<Asker> {
    const proof = tokenHashOf(`${client} ${token}`)
    if (!this.#right.has(proof)) return this.#askNew(client, proof, host)
    const principal = await host()
    this.#note(proof, principal !== null)
    return { principal, waitMs: principal === null ? this.#limit.take(client) : 0 }
  }

  /**
   * Counts the token before the host is asked, because of many that are sent at once each would find room; those that
   * find none wait for the answers to the others.
   */
  async #askNew(client: string, proof: string, host: () => Promise<Principal | null>): Promise<Asker> {
    for (let waitMs = this.#limit.take(client); waitMs > 0; waitMs = this.#limit.take(client)) {
      const open = this.#open.get(client)
      if (open === undefined) return { principal: null, waitMs }
      await Promise.race(open)
    }
    const asking = this.#askHost(client, proof, host)
    const answered = asking.then(
      () => {},
      () => {},
    )
    this.#begin(client, answered)
    try {
      return { principal: await asking, waitMs: 0 }
    } finally {
      this.#end(client, answered)
    }
  }

  /** Only what the host says no to stays counted. */
  async #askHost(
    client: string,
    proof: string,
    host: () => Promise<Principal | null>,
  ): Promise<Principal | null> {
    try {
      const principal = await host()
      if (principal !== null) this.#limit.giveBack(client)
      this.#note(proof, principal !== null)
      return principal
    } catch (error) {
      this.#limit.giveBack(client)
      throw error
    }
  }

  #begin(client: string, answered: Promise<void>): void {
    const open = this.#open.get(client) ?? new Set()
    this.#open.set(client, open.add(answered))
  }

  #end(client: string, answered: Promise<void>): void {
    const open = this.#open.get(client)
    open?.delete(answered)
    if (open?.size === 0) this.#open.delete(client)
  }

  #note(proof: string, isRight: boolean): void {
    this.#right.delete(proof)
    if (isRight) this.#right.add(proof)
    const [oldest = ''] = this.#right
    if (this.#right.size > rightTokensMax) this.#right.delete(oldest)
  }
}
