import type { EpochMs } from '../../time/clock.ts'
import type { PostgresConnections } from './postgres-connections.ts'
import type { PostgresSession } from './postgres-session.ts'
import { writeWakeMessage } from './wake-message.ts'

export interface WakeNotifierOptions {
  readonly connections: PostgresConnections
  readonly channel: string
  /** The instance id of this node. */
  readonly from: string
  /** Reports a failure. Nodes that were not woken look by themselves, so nothing else is needed. */
  readonly onError: (error: unknown) => void
}

const answerWithinMs = 10_000

/**
 * Notifies other nodes when a trigger may fire. Outside of transactions, because transactions with NOTIFY wait for each
 * other at their commits. One notification is under way at a time, and those that come meanwhile become one.
 */
export class WakeNotifier {
  readonly #options: WakeNotifierOptions
  #earliestMs: EpochMs | null = null
  #sending: Promise<void> | null = null
  #isClosed = false

  constructor(options: WakeNotifierOptions) {
    this.#options = options
  }

  /** Returns at once and never throws. */
  notify(earliestMs: EpochMs): void {
    if (this.#isClosed) return
    this.#earliestMs = Math.min(earliestMs, this.#earliestMs ?? earliestMs)
    this.#sending ??= this.#sendAll()
  }

  /** Resolves when the pending notification is sent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    // Notifications of one turn of the event loop become one.
    await Promise.resolve()
    for (let earliestMs = this.#earliestMs; earliestMs !== null; earliestMs = this.#earliestMs) {
      this.#earliestMs = null
      await this.#send(earliestMs)
    }
    this.#sending = null
  }

  async #send(earliestMs: EpochMs): Promise<void> {
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
