import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { invariant } from '../../core/errors.ts'
import { unawaited } from '../../core/promises.ts'
import { textOf } from '../../core/thrown-value.ts'
import { processElapsedMs, systemClock } from '../../time/clock.ts'
import { Gate } from '../../time/gate.ts'
import { retryDelayMs } from '../sql/cluster/check-in.ts'
import type { SqlRow, SqlStatement } from '../sql/kernel/statement.ts'
import type { CheckInThreadData, FromCheckInThread, ThreadOrders, ToCheckInThread } from './check-in-wire.ts'
import { disconnect } from './postgres-driver.ts'

/** Columns are read as text, whatever type parsers the process has set. */
const types = { getTypeParser: () => (value: string) => value }

/** The code of the check-in thread: checks in over a connection of its own and posts the result. */
class CheckInLoop {
  readonly #port: MessagePort
  readonly #data: CheckInThreadData
  readonly #gate = new Gate(systemClock)
  #orders: ThreadOrders
  #client: pg.Client | null = null
  #isStopped = false
  #heardMs = processElapsedMs()
  #onPassword: ((message: ToCheckInThread & { kind: 'password' }) => void) | null = null

  constructor(port: MessagePort, data: CheckInThreadData) {
    this.#port = port
    this.#data = data
    this.#orders = data.orders
    port.on('message', (message: ToCheckInThread) => {
      this.#receive(message)
    })
  }

  async run(): Promise<void> {
    for (let delayMs = 0; !this.#hasStopped(); ) {
      if (delayMs > 0) await this.#gate.wait(delayMs)
      if (this.#hasStopped()) break
      const orders = this.#orders
      delayMs = orders.intervalMs
      if (processElapsedMs() - this.#heardMs > this.#data.deafAfterMs) continue
      try {
        this.#tell(await this.#checkIn(orders))
      } catch (error) {
        await this.#disconnect()
        const code: unknown = error instanceof Error && 'code' in error ? error.code : null
        this.#tell({ kind: 'failed', message: textOf(error), code: typeof code === 'string' ? code : null })
        delayMs = retryDelayMs(orders.intervalMs)
      }
    }
    await this.#disconnect()
    endThread(this.#port)
  }

  async #checkIn({ bootId, statements }: ThreadOrders): Promise<FromCheckInThread> {
    const client = this.#client ?? (await this.#connect())
    const sentMs = processElapsedMs()
    const { changes } = await query(client, statements.checkIn)
    const startedMs = processElapsedMs()
    const { rows } = await query(client, statements.look)
    const lookTookMs = processElapsedMs() - startedMs
    const lookedMs = startedMs + lookTookMs / 2
    return { kind: 'checkedIn', bootId, isOurs: changes === 1, rows, sentMs, lookedMs, lookTookMs }
  }

  async #connect(): Promise<pg.Client> {
    const { answerWithinMs, asksForPassword, connection } = this.#data
    const client = new pg.Client({
      ...connection,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      ...(asksForPassword ? { password: () => this.#askForPassword() } : {}),
    })
    // A connection that breaks between two check-ins is noticed at the next one.
    client.on('error', () => {})
    this.#client = client
    await client.connect()
    return client
  }

  async #disconnect(): Promise<void> {
    const client = this.#client
    this.#client = null
    if (client !== null) await disconnect(client)
  }

  #askForPassword(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#onPassword = ({ password, error }) => {
        if (password === null) reject(new Error(error ?? 'no password was given'))
        else resolve(password)
      }
      this.#tell({ kind: 'password' })
    })
  }

  #hasStopped(): boolean {
    return this.#isStopped
  }

  #tell(message: FromCheckInThread): void {
    this.#port.postMessage(message)
  }

  #receive(message: ToCheckInThread): void {
    this.#heardMs = processElapsedMs()
    switch (message.kind) {
      case 'order':
        this.#orders = message.orders
        break
      case 'hurry':
        this.#gate.wake()
        break
      case 'heard':
        break
      case 'stop':
        this.#isStopped = true
        this.#gate.wake()
        break
      case 'password':
        this.#onPassword?.(message)
        break
    }
  }
}

async function query(
  client: pg.Client,
  { text, values }: SqlStatement,
): Promise<{ readonly rows: readonly SqlRow[]; readonly changes: number }> {
  const { rows, rowCount } = await client.query<SqlRow>({ text, values: [...values], types })
  return { rows, changes: rowCount ?? 0 }
}

/** Deno's port of a thread cannot be closed; there the thread closes itself. */
function endThread(port: Partial<Pick<MessagePort, 'close'>>): void {
  if (typeof port.close === 'function') port.close()
  else (globalThis as { close?: () => void }).close?.()
}

invariant(parentPort !== null, 'the check-in entry runs in a worker thread only')
// Not awaited here: a bundle in CommonJS has no await at the top. An error ends the thread, as one that escapes does.
unawaited(new CheckInLoop(parentPort, workerData as CheckInThreadData).run(), (error) => {
  systemClock.setImmediate(() => {
    throw error
  })
})
