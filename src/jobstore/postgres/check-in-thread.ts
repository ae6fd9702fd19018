import { Worker } from 'node:worker_threads'
import { JobPersistenceError } from '../../core/errors.ts'
import { moduleBeside, type ThreadEntry } from '../../core/package-files.ts'
import { unawaited } from '../../core/promises.ts'
import { textOf } from '../../core/thrown-value.ts'
import { type Clock, type ClockTimer, processElapsedMs, systemClock } from '../../time/clock.ts'
import {
  type CheckIn,
  type CheckInDriver,
  type CheckInObserver,
  type CheckInOrders,
  retryDelayMs,
} from '../sql/cluster/check-in.ts'
import { StandIn, type StandInOptions } from './check-in-stand-in.ts'
import type { CheckInThreadData, FromCheckInThread, ThreadOrders, ToCheckInThread } from './check-in-wire.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { ThreadAccess } from './thread-connection.ts'

export interface ThreadCheckInsOptions extends StandInOptions {
  readonly access: ThreadAccess
  /** The scheduler's clock, to which times of the thread are converted. */
  readonly clock: Clock
  /** A main thread that is blocked for this long counts as dead. Milliseconds, default 300,000. */
  readonly deafAfterMs?: number
  /** The module of the thread. */
  readonly entry: URL
}

/** What the thread runs; `given` is the user's. */
export function checkInEntry(given?: URL): ThreadEntry {
  return {
    url: given ?? moduleBeside(import.meta.url, './check-in-entry', 'jobstore/postgres/check-in-entry'),
    specifier: 'quartz-ts/check-in-entry',
    option: 'checkInEntry of postgresJobStore',
  }
}

/** The longest pause before a thread that has ended is replaced. */
const restartPauseMaxMs = 60_000

/**
 * Checks in from a thread with a connection of its own, so that a node whose event loop is blocked is not taken for
 * failed. A thread that ends is replaced: one that has checked in soon, one that ended before it could after growing
 * pauses. Whenever the thread does not check in, for whatever reason, the event loop stands in for it.
 */
export class ThreadCheckIns implements CheckInDriver {
  readonly #options: ThreadCheckInsOptions
  readonly #proof = new SharedArrayBuffer(8)
  #observer: CheckInObserver | null = null
  #orders: CheckInOrders | null = null
  #standIn: StandIn | null = null
  #sent = ''
  #worker: Worker | null = null
  #ended: Promise<void> = Promise.resolve()
  #restart: ClockTimer | null = null
  /** Threads in a row that ended before they had checked in. */
  #lost = 0
  #isStopped = false

  constructor(options: ThreadCheckInsOptions) {
    this.#options = options
  }

  start(observer: CheckInObserver, orders: CheckInOrders): void {
    this.#observer = observer
    this.#orders = orders
    this.#standIn = new StandIn(this.#options, observer, orders)
    this.#startThread(orders)
  }

  order(orders: CheckInOrders): void {
    this.#orders = orders
    this.#standIn?.order(orders)
    this.#sendOrders()
  }

  hurry(): void {
    this.#standIn?.hurry()
    this.#post({ kind: 'hurry' })
  }

  provenMs(): number {
    return Number(Atomics.load(new BigInt64Array(this.#proof), 0)) / 1000 + this.#behindMs()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#restart?.cancel()
    await this.#standIn?.stop()
    await this.#endThread()
  }

  cutOff(): void {
    this.#isStopped = true
    this.#restart?.cancel()
    this.#standIn?.cutOff()
    const worker = this.#worker
    if (worker !== null) unawaited(worker.terminate(), (error) => this.#observer?.checkInFailed(error))
  }

  async #endThread(): Promise<void> {
    const worker = this.#worker
    if (worker === null) return
    worker.ref()
    this.#post({ kind: 'stop' })
    const timer = systemClock.setTimer(this.#options.answerWithinMs + 1000, () => {
      unawaited(worker.terminate(), (error) => this.#observer?.checkInFailed(error))
    })
    await this.#ended
    timer.cancel()
  }

  #startThread(orders: CheckInOrders): void {
    let worker: Worker
    try {
      worker = this.#newWorker(orders)
    } catch (error) {
      // As where the system has no thread left.
      this.#threadEnded(error)
      return
    }
    worker.unref()
    this.#worker = worker
    let failure: unknown = null
    worker.on('error', (error: unknown) => {
      failure = error
    })
    worker.on('message', (message: FromCheckInThread) => {
      this.#receive(message)
    })
    this.#ended = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.#worker = null
        resolve()
        this.#threadEnded(failure ?? new Error(`The thread ended with code ${String(code)}.`))
      })
    })
  }

  #newWorker(orders: CheckInOrders): Worker {
    const { access, answerWithinMs, deafAfterMs = 300_000, entry } = this.#options
    const data: CheckInThreadData = {
      connection: access.connection,
      asksForPassword: access.password !== null,
      answerWithinMs,
      deafAfterMs,
      orders: this.#note(orders),
      proof: this.#proof,
    }
    // Without the flags of the process, which may be for its main script only.
    return new Worker(entry, { workerData: data, execArgv: [], name: 'quartz-ts check-in' })
  }

  #threadEnded(cause: unknown): void {
    const orders = this.#orders
    if (this.#isStopped || orders === null) return
    this.#observer?.witnessLost()
    const message = 'The thread that checks in died; another one is started.'
    this.#failed(new JobPersistenceError(message, { cause }), cause)
    const pauseMs = Math.min(retryDelayMs(orders.intervalMs) * 2 ** this.#lost, restartPauseMaxMs)
    this.#lost++
    this.#restart = systemClock.setTimer(pauseMs, () => {
      this.#startThread(this.#orders ?? orders)
    })
  }

  #receive(message: FromCheckInThread): void {
    if (this.#isStopped) return
    this.#post({ kind: 'heard' })
    switch (message.kind) {
      case 'checkedIn':
        this.#lost = 0
        this.#standIn?.threadCheckedIn(message.sentMs)
        this.#observer?.checkedIn(this.#onOwnClock(message))
        this.#sendOrders()
        break
      case 'looked':
        this.#observer?.looked({ ...message, sentMs: message.sentMs + this.#behindMs() })
        break
      case 'witnessLost':
        this.#observer?.witnessLost()
        break
      case 'failed':
        this.#failed(this.#errorOf(message))
        break
      case 'password':
        unawaited(this.#givePassword(), (error) => this.#observer?.checkInFailed(error))
        break
    }
  }

  /** As the store says it, with the remedy: it may be all that is said of a server that stands still. */
  #errorOf({ message, fields }: FromCheckInThread & { readonly kind: 'failed' }): JobPersistenceError {
    const { answerWithinMs } = this.#options
    const isLate = message === 'Query read timeout'
    const thrown = Object.assign(new Error(message), fields)
    const failure = isLate ? DatabaseFailure.noAnswer(answerWithinMs) : new DatabaseFailure(thrown)
    return failure.toPersistenceError()
  }

  #failed(error: Error, cause: unknown = error): void {
    this.#standIn?.threadFailed(cause)
    // The node can check in as long as the event loop does it.
    if (this.#standIn?.isWorking !== true) this.#observer?.checkInFailed(error)
  }

  /** The monotonic clocks of threads begin at different instants. */
  #onOwnClock({ sentMs, lookedMs, ...rest }: CheckIn): CheckIn {
    const behindMs = this.#behindMs()
    return { ...rest, sentMs: sentMs + behindMs, lookedMs: lookedMs + behindMs }
  }

  #behindMs(): number {
    return this.#options.clock.elapsedMs() - processElapsedMs()
  }

  async #givePassword(): Promise<void> {
    try {
      const password = (await this.#options.access.password?.()) ?? null
      this.#post({ kind: 'password', password, error: null })
    } catch (error) {
      this.#post({ kind: 'password', password: null, error: textOf(error) })
    }
  }

  /** Posts the statements to the thread when they have changed. */
  #sendOrders(): void {
    const known = this.#sent
    if (this.#orders === null) return
    const orders = this.#note(this.#orders)
    if (this.#sent !== known) this.#post({ kind: 'order', orders })
  }

  #note({ bootId, intervalMs, statements, witness }: CheckInOrders): ThreadOrders {
    const orders: ThreadOrders = { bootId, intervalMs, statements: statements(), witness: witness() }
    this.#sent = JSON.stringify(orders)
    return orders
  }

  #post(message: ToCheckInThread): void {
    this.#worker?.postMessage(message)
  }
}
