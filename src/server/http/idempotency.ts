import { createHash } from 'node:crypto'
import { SchedulerError } from '../../core/errors.ts'
import type { Clock } from '../../time/clock.ts'

/** An answer that can be sent again. */
export interface KeptAnswer {
  readonly status: number
  readonly body: string
}

interface Entry {
  readonly fingerprint: string
  readonly answer: Promise<KeptAnswer>
  readonly untilMs: number
}

const entriesMax = 1000
const keptMs = 600_000

/**
 * Answers by `Idempotency-Key`: a client that does not know whether its request arrived sends it again and gets the
 * answer of the first one. Kept in memory, for ten minutes and a thousand requests.
 */
export class IdempotentAnswers {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws SchedulerError ERR_IDEMPOTENCY_KEY when the key came with another request before */
  async once(
    key: readonly string[],
    request: readonly string[],
    carryOut: () => Promise<KeptAnswer>,
  ): Promise<KeptAnswer> {
    const id = JSON.stringify(key)
    const fingerprint = createHash('sha256').update(JSON.stringify(request)).digest('base64')
    this.#forgetOld()
    const known = this.#entries.get(id)
    if (known !== undefined) {
      if (known.fingerprint === fingerprint) return known.answer
      throw new SchedulerError(
        'ERR_IDEMPOTENCY_KEY',
        'This Idempotency-Key came with another request before.',
      )
    }
    const answer = carryOut()
    this.#entries.set(id, { fingerprint, answer, untilMs: this.#clock.elapsedMs() + keptMs })
    const { status } = await answer
    // What failed in the server, or was too much for it, may be tried again under the same key.
    if (status >= 500 || status === 429) this.#entries.delete(id)
    return answer
  }

  #forgetOld(): void {
    const nowMs = this.#clock.elapsedMs()
    for (const [id, { untilMs }] of this.#entries) {
      if (untilMs > nowMs && this.#entries.size < entriesMax) return
      this.#entries.delete(id)
    }
  }
}
