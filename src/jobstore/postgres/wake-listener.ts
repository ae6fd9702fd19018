import type pg from 'pg'
import type { Clock } from '../../time/clock.ts'
import { InterruptibleSleep } from '../../time/interruptible-sleep.ts'
import { settledWithin } from '../../time/settled-within.ts'
import { unlessAborted } from '../../time/unless-aborted.ts'
import type { InterruptTarget } from '../cluster-view.ts'
import { type NodeOrderMessage, readInterruptMessage, readOrderMessage } from './node-messages.ts'
import { disconnect, postgresDriver } from './postgres-driver.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import { backoffMs } from './transaction-retry.ts'
import { readWakeMessage, type WakeMessage } from './wake-message.ts'

export interface WakeListenerOptions {
  /** A client outside of any pool, not yet connected. */
  readonly connect: () => pg.Client
  readonly channel: string
  readonly clock: Clock
  readonly random: () => number
  readonly onWake: (message: WakeMessage) => void
  readonly onInterrupt?: (target: InterruptTarget) => void
  readonly onOrder?: (order: NodeOrderMessage) => void
  /** It listens, for the first time or again; earlier messages were missed. */
  readonly onListening: () => void
  /** The connection broke, or could not be made: called once in a row of failures. */
  readonly onError: (error: unknown) => void
  /**
   * How often to check that the connection is alive: one that only listens would never notice a break. Milliseconds,
   * default 15,000.
   */
  readonly heartbeatMs?: number
}

/** It is idle by design. A server before PostgreSQL 14 does not know the setting. */
const staysIdle = `SELECT set_config('idle_session_timeout', '0', false)
  WHERE current_setting('idle_session_timeout', true) IS NOT NULL`

/** Receives messages of other nodes, on a connection of its own that is made again whenever it breaks. */
export class WakeListener {
  readonly #options: WakeListenerOptions
  readonly #sleep: InterruptibleSleep
  #client: pg.Client | null = null
  #running: Promise<void> | null = null

  constructor(options: WakeListenerOptions) {
    this.#options = options
    this.#sleep = new InterruptibleSleep(options.clock)
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async close(): Promise<void> {
    this.#sleep.end()
    if (this.#client !== null) await disconnect(this.#client)
    await this.#running
  }

  /** Ends as soon as its connection is cut. */
  cutOff(): void {
    this.#sleep.end()
  }

  #isClosed(): boolean {
    return this.#sleep.isOver
  }

  async #run(): Promise<void> {
    const { onError, random } = this.#options
    for (let failures = 0; !this.#isClosed(); ) {
      const client = this.#options.connect()
      this.#client = client
      try {
        await this.#listen(client, () => {
          failures = 0
        })
      } catch (error) {
        if (this.#isClosed()) break
        failures++
        // A server that is away is reported once, not at each try.
        if (failures === 1) onError(error)
      } finally {
        this.#client = null
        await disconnect(client)
      }
      await this.#sleep.sleep(50 + random() * backoffMs(100, failures))
    }
  }

  /** Ends when the listener closes, or throws when the connection breaks. */
  async #listen(client: pg.Client, onListening: () => void): Promise<void> {
    const { channel, onWake, onInterrupt, onOrder, heartbeatMs = 15_000 } = this.#options
    const broken = new AbortController()
    const { signal } = broken
    client.on('error', (error) => {
      broken.abort(error)
    })
    client.on('end', () => {
      broken.abort(new DatabaseFailure(new Error('Connection terminated')))
    })
    client.on('notification', (notification) => {
      if (notification.channel !== channel) return
      const target = readInterruptMessage(notification.payload)
      if (target !== null) onInterrupt?.(target)
      const order = readOrderMessage(notification.payload)
      if (order !== null) onOrder?.(order)
      const message = readWakeMessage(notification.payload)
      if (message !== null) onWake(message)
    })
    await unlessAborted(client.connect(), signal)
    await this.#answered(client.query(staysIdle), signal)
    await this.#answered(client.query(`LISTEN ${postgresDriver().escapeIdentifier(channel)}`), signal)
    onListening()
    this.#options.onListening()
    while (await unlessAborted(this.#sleep.sleep(heartbeatMs), signal)) {
      await this.#answered(client.query('SELECT 1'), signal)
    }
  }

  /** Waits for an answer, with a time limit. */
  async #answered(answer: Promise<unknown>, broken: AbortSignal): Promise<void> {
    const { clock, heartbeatMs = 15_000 } = this.#options
    const isAnswered = await settledWithin(clock, heartbeatMs, unlessAborted(answer, broken))
    if (!isAnswered) throw DatabaseFailure.noAnswer(heartbeatMs)
  }
}
