import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { invariant } from '../../core/errors.ts'
import { unawaited } from '../../core/promises.ts'
import { codeOf, textOf } from '../../core/thrown-value.ts'
import { processElapsedMs, systemClock } from '../../time/clock.ts'
import { Gate } from '../../time/gate.ts'
import { retryDelayMs } from '../sql/cluster/check-in.ts'
import {
  slowSessionMs,
  suspectLookMs,
  witnessCheckInMs,
  witnessConnectMs,
  witnessLookMs,
} from '../sql/cluster/witness.ts'
import { noReply, type SqlReply, type SqlStatement } from '../sql/kernel/statement.ts'
import type { CheckInThreadData, FromCheckInThread, ThreadOrders, ToCheckInThread } from './check-in-wire.ts'
import { asText } from './column-parsers.ts'
import { fieldsOf } from './error-fields.ts'
import { Pipeline } from './pipeline.ts'
import { disconnect } from './postgres-driver.ts'
import { begin, commit, statementLimits } from './postgres-transaction.ts'
import { SessionWitness } from './session-witness.ts'

type CheckedIn = Extract<FromCheckInThread, { readonly kind: 'checkedIn' }>

/** SQLSTATE of a statement that is not allowed, not known, or for which the server lacks room. */
const refusals = /^(?:42|0A|53)/
/** SQLSTATE of a change in a transaction that is read-only. */
const readOnlyTransaction = '25006'

/** The code of the check-in thread: checks in over a connection of its own and posts the result. */
class CheckInLoop {
  readonly #port: MessagePort
  readonly #data: CheckInThreadData
  readonly #limits: readonly SqlStatement[]
  readonly #gate = new Gate(systemClock)
  #orders: ThreadOrders
  #client: pg.Client | null = null
  #isStopped = false
  #witness: SessionWitness | null = null
  /** Whether this connection may hold a witness. */
  #canHold = false
  /** When this session was found too slow for a witness. */
  #slowSinceMs = Number.POSITIVE_INFINITY
  /** Whether the server refuses such locks, to this user or at all. */
  #isRefused = false
  /** What the last look found lost. */
  #lost: readonly number[] = []
  #checkInAtMs = 0
  #lookAtMs = Number.POSITIVE_INFINITY
  /** Check-ins and looks, in a row. */
  #failures = 0
  /** Whether the transactions of this session are read-only unless they say otherwise, as those of the store do. */
  #readsByDefault = false
  #heardMs = processElapsedMs()
  #onPassword: ((message: ToCheckInThread & { kind: 'password' }) => void) | null = null

  constructor(port: MessagePort, data: CheckInThreadData) {
    this.#port = port
    this.#data = data
    const { answerWithinMs } = data
    // Earlier than this thread gives up, so that it is told that a lock is the cause.
    const lockTimeoutMs = Math.ceil(0.9 * answerWithinMs)
    const limits = statementLimits({ lockTimeoutMs, statementTimeoutMs: answerWithinMs })
    this.#limits = limits === null ? [] : [limits]
    this.#orders = data.orders
    port.on('message', (message: ToCheckInThread) => {
      this.#receive(message)
    })
  }

  async run(): Promise<void> {
    while (!this.#hasStopped()) {
      await this.#waitUntilDue()
      if (this.#hasStopped()) break
      const orders = this.#orders
      if (processElapsedMs() - this.#heardMs > this.#data.deafAfterMs) {
        this.#checkInAtMs = processElapsedMs() + orders.intervalMs
        this.#lookAtMs = Number.POSITIVE_INFINITY
        continue
      }
      try {
        if (processElapsedMs() >= this.#checkInAtMs) await this.#checkInNow(orders)
        // Timers end up to a millisecond early: then neither is due yet.
        else if (processElapsedMs() >= this.#lookAtMs) await this.#look(orders)
      } catch (error) {
        this.#failed(error, orders)
        await this.#disconnect()
      }
    }
    await this.#disconnect()
    endThread(this.#port)
  }

  /** A wake-up asks for a check-in. */
  async #waitUntilDue(): Promise<void> {
    const delayMs = Math.min(this.#checkInAtMs, this.#lookAtMs) - processElapsedMs()
    if (delayMs > 0 && (await this.#gate.wait(delayMs))) this.#checkInAtMs = processElapsedMs()
  }

  /** A node whose row names a witness must be back within the grace. */
  #failed(error: unknown, { intervalMs, witness }: ThreadOrders): void {
    this.#tell({ kind: 'failed', message: textOf(error), fields: fieldsOf(error) })
    const delayMs = retryDelayMs(intervalMs)
    const hurriedMs = suspectLookMs * this.#failures
    this.#failures++
    this.#checkInAtMs = processElapsedMs() + (witness === null ? delayMs : Math.min(delayMs, hurriedMs))
  }

  async #checkInNow(orders: ThreadOrders): Promise<void> {
    this.#checkInAtMs = Number.POSITIVE_INFINITY
    const checkIn = await this.#checkIn(orders)
    this.#failures = 0
    this.#tell(checkIn)
    const answeredMs = processElapsedMs()
    this.#checkInAtMs = answeredMs + orders.intervalMs
    if (checkIn.witness === 'named' && orders.witness !== null) {
      const isLate = answeredMs - checkIn.sentMs > witnessCheckInMs(orders.witness)
      if (isLate) this.#giveUpWitness(answeredMs)
    }
    if (this.#witness === null || orders.witness === null) this.#lookAtMs = Number.POSITIVE_INFINITY
    else this.#lookAtMs = Math.min(this.#lookAtMs, processElapsedMs() + witnessLookMs)
  }

  async #checkIn({ bootId, statements, witness }: ThreadOrders): Promise<CheckedIn> {
    const isSlow = witness !== null && this.#slowSinceMs + slowSessionMs < processElapsedMs()
    if (isSlow) await this.#disconnect()
    const client = this.#client ?? (await this.#connect())
    const isNamed = witness !== null && (await this.#hasWitness(client, witness.key))
    const sentMs = processElapsedMs()
    const changes = await this.#write(client, isNamed ? witness.checkIn : statements.checkIn)
    const startedMs = processElapsedMs()
    const { rows } = await this.#query(client, statements.look)
    const lookTookMs = processElapsedMs() - startedMs
    const lookedMs = startedMs + lookTookMs / 2
    const naming = isNamed ? 'named' : 'none'
    const isOurs = changes === 1
    return { kind: 'checkedIn', bootId, isOurs, rows, sentMs, lookedMs, lookTookMs, witness: naming }
  }

  /** How many rows were changed. */
  async #write(client: pg.Client, statement: SqlStatement): Promise<number> {
    if (!this.#readsByDefault) {
      try {
        return (await this.#query(client, statement)).changes
      } catch (error) {
        if (codeOf(error) !== readOnlyTransaction) throw error
        this.#readsByDefault = true
      }
    }
    // At once: one that stays open where answers are lost would keep the row of this node locked.
    const replies = await this.#send(client, [begin, ...this.#limits, statement, commit])
    return (replies.at(-2) ?? noReply).changes
  }

  /** Takes the witness where there is none yet and the session can hold one. */
  async #hasWitness(client: pg.Client, key: number): Promise<boolean> {
    if (this.#witness !== null) return true
    if (!this.#canHold || this.#isRefused) return false
    const sentMs = processElapsedMs()
    const taken = await this.#notRefused(SessionWitness.take(client, key))
    if (taken === null) this.#canHold = false
    if (taken === null || taken === 'busy') return false
    this.#witness = taken
    // Told before the row names it: from then on the node needs proofs.
    this.#tell({ kind: 'looked', sentMs, nowMs: 0, lost: [] })
    return true
  }

  /** The session is too slow: it checks in at once to say so, and keeps the lock, which its row names till then. */
  #giveUpWitness(nowMs: number): void {
    this.#witness = null
    this.#canHold = false
    this.#slowSinceMs = nowMs
    this.#lost = []
    this.#checkInAtMs = nowMs
  }

  async #look({ witness }: ThreadOrders): Promise<void> {
    this.#lookAtMs = Number.POSITIVE_INFINITY
    if (this.#witness === null || witness === null) return
    const sentMs = processElapsedMs()
    const { nowMs, lost } = await this.#notRefused(this.#witness.look(witness.watched))
    this.#failures = 0
    Atomics.store(new BigInt64Array(this.#data.proof), 0, BigInt(Math.floor(sentMs * 1000)))
    if (lost.length > 0 || this.#lost.length > 0) this.#tell({ kind: 'looked', sentMs, nowMs, lost })
    this.#lookAtMs = processElapsedMs() + (lost.length > 0 ? suspectLookMs : witnessLookMs)
    // With its look at the rows the grace begins.
    if (lost.some((key) => !this.#lost.includes(key))) this.#checkInAtMs = processElapsedMs()
    this.#lost = lost
  }

  /** A server that does not give these locks must not keep the node from checking in. */
  async #notRefused<Answer>(asking: Promise<Answer>): Promise<Answer> {
    try {
      return await asking
    } catch (error) {
      if (refusals.test(codeOf(error) ?? '')) this.#isRefused = true
      throw error
    }
  }

  /** The server ends a statement that this thread gives up: it would wait for its lock beside the next one. */
  async #query(client: pg.Client, statement: SqlStatement): Promise<SqlReply> {
    return (await this.#send(client, [...this.#limits, statement])).at(-1) ?? noReply
  }

  #send(client: pg.Client, statements: readonly SqlStatement[]): Promise<readonly SqlReply[]> {
    const nameless = statements.map((each) => ({ ...each, name: null }))
    return client.query(new Pipeline(nameless, () => asText)).answer
  }

  async #connect(): Promise<pg.Client> {
    const { answerWithinMs, asksForPassword, connection } = this.#data
    const client = new pg.Client({
      ...connection,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      ...(asksForPassword ? { password: () => this.#askForPassword() } : {}),
    })
    client.on('error', () => {
      this.#lose(client)
    })
    client.on('end', () => {
      this.#lose(client)
    })
    this.#client = client
    this.#readsByDefault = false
    const startedMs = processElapsedMs()
    await client.connect()
    const connectedMs = processElapsedMs()
    const isSlow = connectedMs - startedMs > witnessConnectMs
    // One who asks the main thread for the password could not come back while that is blocked.
    this.#canHold = !asksForPassword && !isSlow
    this.#slowSinceMs = isSlow && !asksForPassword ? connectedMs : Number.POSITIVE_INFINITY
    return client
  }

  /**
   * The session ended. Where it held a witness, peers see that, so the node checks in at once. Otherwise the next
   * check-in connects anew: the driver's own error for a client that has ended says nothing of what is wrong.
   */
  #lose(client: pg.Client): void {
    if (this.#client !== client) return
    this.#client = null
    if (this.#witness !== null) this.#gate.wake()
    this.#forgetWitness()
    unawaited(disconnect(client), () => {})
  }

  #forgetWitness(): void {
    if (this.#witness === null) return
    this.#witness = null
    this.#lost = []
    this.#lookAtMs = Number.POSITIVE_INFINITY
    this.#tell({ kind: 'witnessLost' })
  }

  async #disconnect(): Promise<void> {
    const client = this.#client
    this.#client = null
    this.#forgetWitness()
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
      case 'order': {
        const isFirst = this.#orders.witness === null && message.orders.witness !== null
        this.#orders = message.orders
        // Peers can see the end of this session only when the row names its witness.
        if (isFirst) this.#gate.wake()
        break
      }
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
