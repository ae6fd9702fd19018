import type { Clock, ClockTimer, EpochMs } from '../../time/clock.ts'
import type { PostgresConnections } from './postgres-connections.ts'
import type { PostgresSession } from './postgres-session.ts'
import { type WakeMessage, writeWakeMessage } from './wake-message.ts'

export interface WakeNotifierOptions {
  readonly connections: PostgresConnections
  readonly channel: string
  /** The instance id of this node. */
  readonly from: string
  readonly clock: Clock
  /** Reports a failure. Nodes that were not woken look by themselves, so nothing else is needed. */
  readonly onError: (error: unknown) => void
}

const answerWithinMs = 10_000

/** How far apart messages are that no loop waits for; who looks at changes gathers them for longer than that. */
const gapMs = 50

/** A trigger that is due within this time is told at once: it leaves room for clocks that differ. */
const soonMs = 2000

/**
 * Notifies other nodes when something has changed, and when a trigger may fire. Outside of transactions, because
 * transactions with NOTIFY wait for each other at their commits. One notification is under way at a time, and those
 * that come meanwhile become one; so do those of a short while when no trigger is due soon, because each costs the
 * server and every node that listens about as much as a small transaction.
 */
export class WakeNotifier {
  readonly #options: WakeNotifierOptions
  /** What is to be sent next; null when there is nothing. */
  #next: Pick<WakeMessage, 'earliestMs'> | null = null
  #sending: Promise<void> | null = null
  #timer: ClockTimer | null = null
  #sentAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: WakeNotifierOptions) {
    this.#options = options
  }

  /** Null when no trigger fires earlier. Returns at once and never throws. */
  notify(earliestMs: EpochMs | null): void {
    if (this.#isClosed) return
    const pendingMs = this.#next?.earliestMs ?? null
    const isEarlier = pendingMs === null || (earliestMs !== null && earliestMs < pendingMs)
    this.#next = { earliestMs: isEarlier ? earliestMs : pendingMs }
    if (this.#sending !== null) return
    const waitMs = this.#waitMs(this.#next)
    if (waitMs <= 0) {
      this.#begin()
      return
    }
    const begin = (): void => {
      this.#begin()
    }
    // The process may end without it, as it may with any message.
    this.#timer ??= this.#options.clock.setTimer(waitMs, begin, { unref: true })
  }

  /** Resolves when the pending notification is sent. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#next !== null) this.#begin()
    await this.#sending
  }

  #waitMs({ earliestMs }: Pick<WakeMessage, 'earliestMs'>): number {
    const { clock } = this.#options
    if (this.#isClosed || (earliestMs !== null && earliestMs < clock.now() + soonMs)) return 0
    return this.#sentAtMs + gapMs - clock.elapsedMs()
  }

  #begin(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#sending ??= this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    // Notifications of one turn of the event loop become one.
    await Promise.resolve()
    for (let next = this.#next; next !== null && this.#waitMs(next) <= 0; next = this.#next) {
      this.#next = null
      this.#sentAtMs = this.#options.clock.elapsedMs()
      await this.#send(next)
    }
    this.#sending = null
    if (this.#next !== null) this.notify(null)
  }

  async #send({ earliestMs }: Pick<WakeMessage, 'earliestMs'>): Promise<void> {
    const { connections, channel, from, onError } = this.#options
    let session: PostgresSession | null = null
    try {
      session = await connections.open(answerWithinMs)
      const values = [channel, writeWakeMessage({ earliestMs, from })]
      await session.query({ text: 'SELECT pg_notify($1, $2)', values })
      session.release()
    } catch (error) {
      session?.discard()
      onError(error)
    }
  }
}
