import type { EpochMs } from '../../time/clock.ts'
import type { PostgresConnections } from './postgres-connections.ts'
import type { PostgresSession } from './postgres-session.ts'
import { type WakeMessage, writeWakeMessage } from './wake-message.ts'

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
 * Notifies other nodes when something has changed, and when a trigger may fire. Outside of transactions, because
 * transactions with NOTIFY wait for each other at their commits. One notification is under way at a time, and those
 * that come meanwhile become one.
 */
export class WakeNotifier {
  readonly #options: WakeNotifierOptions
  /** What is to be sent next; null when there is nothing. */
  #next: Pick<WakeMessage, 'earliestMs'> | null = null
  #sending: Promise<void> | null = null
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
    for (let next = this.#next; next !== null; next = this.#next) {
      this.#next = null
      await this.#send(next)
    }
    this.#sending = null
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
