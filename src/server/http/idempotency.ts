import { createHash } from 'node:crypto'
import { SchedulerError } from '../../core/errors.ts'
import type { Clock } from '../../time/clock.ts'

/** An answer that can be sent again. */
export interface KeptAnswer {
  readonly status: number
  readonly body: string
  /** Whether what failed may have been done all the same. Default false. */
  readonly mayBeDone?: boolean
}

interface Sent {
  readonly fingerprint: string
  readonly answer: Promise<KeptAnswer>
}

interface Kept extends Sent {
  readonly untilMs: number
  /** Of its answer, in characters. */
  readonly size: number
}

const keptMax = 1000
const sizeMax = 16_000_000
const keptMs = 600_000

/**
 * Answers by `Idempotency-Key`: a client that does not know whether its request arrived sends it again and gets the
 * answer of the first one. Kept in memory, for ten minutes, a thousand requests and 16 million characters.
 */
export class IdempotentAnswers {
  readonly #clock: Clock
  readonly #underWay = new Map<string, Sent>()
  readonly #kept = new Map<string, Kept>()
  #size = 0

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
    this.#makeRoom(0)
    const known = this.#underWay.get(id) ?? this.#kept.get(id)
    if (known !== undefined) {
      if (known.fingerprint === fingerprint) return known.answer
      throw new SchedulerError(
        'ERR_IDEMPOTENCY_KEY',
        'This Idempotency-Key came with another request before. Make a new one for each request.',
      )
    }
    const answer = carryOut()
    this.#underWay.set(id, { fingerprint, answer })
    try {
      const { status, body, mayBeDone } = await answer
      // What was too much for the server, or for which it was away, may be tried again under the same key, unless it
      // may have been done.
      const isDone = status < 500 && status !== 429
      if (isDone || mayBeDone === true) this.#keep(id, { fingerprint, answer }, body.length)
    } finally {
      this.#underWay.delete(id)
    }
    return answer
  }

  #keep(id: string, sent: Sent, size: number): void {
    this.#makeRoom(size)
    this.#kept.set(id, { ...sent, size, untilMs: this.#clock.elapsedMs() + keptMs })
    this.#size += size
  }

  /** Forgets the oldest answers; a request that is under way is never carried out twice. */
  #makeRoom(forSize: number): void {
    const nowMs = this.#clock.elapsedMs()
    for (const [id, { size, untilMs }] of this.#kept) {
      if (untilMs > nowMs && this.#kept.size < keptMax && this.#size + forSize <= sizeMax) return
      this.#kept.delete(id)
      this.#size -= size
    }
  }
}
