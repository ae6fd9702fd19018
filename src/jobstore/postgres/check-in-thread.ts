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
import type { CheckInThreadData, FromCheckInThread, ThreadOrders, ToCheckInThread } from './check-in-wire.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import type { ThreadAccess } from './thread-connection.ts'

export interface ThreadCheckInsOptions {
  readonly access: ThreadAccess
  /** The scheduler's clock, to which times of the thread are converted. */
  readonly clock: Clock
  readonly answerWithinMs: number
  /** Checks in on the event loop when no thread can. */
  readonly fallback: CheckInDriver
  /**
   * One check-in over the store's connections: tells whether the server or the thread is to blame, and stands in while
   * the thread cannot connect again.
   */
  readonly checkInOfStore: (orders: CheckInOrders) => Promise<CheckIn>
  readonly onFallback: (cause: unknown) => void
  /** The store's connections stand in for the thread's until that one is back. */
  readonly onStandIn: (cause: unknown) => void
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

/**
 * After so many failures before the first check-in the store is asked; when it reaches the server, the thread is given
 * up.
 */
const failuresMax = 2

/**
 * Checks in from a thread with a connection of its own, so that a node whose event loop is blocked is not taken for
 * failed. A thread that dies is replaced. While one that has checked in cannot do so any more, as where the server has
 * no connection left, the store's connections stand in: peers must not recover a node that works.
 */
export class ThreadCheckIns implements CheckInDriver {
  readonly #options: ThreadCheckInsOptions
  readonly #entry: URL
  readonly #proof = new SharedArrayBuffer(8)
  #observer: CheckInObserver | null = null
  #orders: CheckInOrders | null = null
  #sent = ''
  #worker: Worker | null = null
  #ended: Promise<void> = Promise.resolve()
  #restart: ClockTimer | null = null
  #failures = 0
  /** When the last check-in was sent, on the clock's monotonic time; null before the first one. */
  #checkedInMs: number | null = null
  /** Whether the last check-in went over the store's connections. */
  #isStoodInFor = false
  #asking: Promise<void> | null = null
  #isFallenBack = false
  #isStopped = false

  constructor(options: ThreadCheckInsOptions) {
    this.#options = options
    this.#entry = options.entry
  }

  start(observer: CheckInObserver, orders: CheckInOrders): void {
    this.#observer = observer
    this.#orders = orders
    // The sources of this package, which not every Node.js can load.
    if (this.#entry.pathname.endsWith('.ts')) this.#fallBack(new Error('The entry is TypeScript; build it.'))
    else this.#spawn(orders)
  }

  order(orders: CheckInOrders): void {
    this.#orders = orders
    if (this.#isFallenBack) this.#options.fallback.order(orders)
    else this.#sendOrders()
  }

  hurry(): void {
    if (this.#isFallenBack) this.#options.fallback.hurry()
    else this.#post({ kind: 'hurry' })
  }

  provenMs(): number {
    return Number(Atomics.load(new BigInt64Array(this.#proof), 0)) / 1000 + this.#behindMs()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#restart?.cancel()
    await this.#asking
    if (this.#isFallenBack) await this.#options.fallback.stop()
    await this.#endThread()
  }

  cutOff(): void {
    this.#isStopped = true
    this.#restart?.cancel()
    this.#options.fallback.cutOff()
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

  #spawn(orders: CheckInOrders): void {
    const { access, answerWithinMs, deafAfterMs = 300_000 } = this.#options
    const data: CheckInThreadData = {
      connection: access.connection,
      asksForPassword: access.password !== null,
      answerWithinMs,
      deafAfterMs,
      orders: this.#note(orders),
      proof: this.#proof,
    }
    // Without the flags of the process, which may be for its main script only.
    const worker = new Worker(this.#entry, { workerData: data, execArgv: [], name: 'quartz-ts check-in' })
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

  #threadEnded(cause: unknown): void {
    if (this.#isStopped || this.#isFallenBack) return
    this.#observer?.witnessLost()
    const orders = this.#orders
    if (orders === null) return
    const message = 'The thread that checks in died; another one is started.'
    this.#failed(new JobPersistenceError(message, { cause }), cause)
    this.#restart = systemClock.setTimer(retryDelayMs(orders.intervalMs), () => {
      if (!this.#isStopped) this.#spawn(this.#orders ?? orders)
    })
  }

  #receive(message: FromCheckInThread): void {
    if (this.#isStopped || this.#isFallenBack) return
    this.#post({ kind: 'heard' })
    switch (message.kind) {
      case 'checkedIn': {
        const checkIn = this.#onOwnClock(message)
        this.#checkedInMs = checkIn.sentMs
        this.#isStoodInFor = false
        this.#observer?.checkedIn(checkIn)
        this.#sendOrders()
        break
      }
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
    // The node can check in as long as the store's connections do it.
    if (!this.#isStoodInFor) this.#observer?.checkInFailed(error)
    const orders = this.#orders
    if (this.#asking !== null || orders === null || !this.#isStoreNeeded()) return
    this.#asking = this.#askStore(cause, orders)
    unawaited(this.#asking, (failure) => this.#observer?.checkInFailed(failure))
  }

  /** A thread that has checked in may be back before peers wait for it. */
  #isStoreNeeded(): boolean {
    if (this.#checkedInMs !== null) {
      return this.#options.clock.elapsedMs() - this.#checkedInMs >= this.#options.answerWithinMs
    }
    this.#failures++
    if (this.#failures < failuresMax) return false
    this.#failures = 0
    return true
  }

  /** A server that is away for the store too is no fault of the thread, which goes on and says itself what failed. */
  async #askStore(cause: unknown, orders: CheckInOrders): Promise<void> {
    const before = this.#checkedInMs
    const checkIn = await this.#options.checkInOfStore(orders).catch((error: unknown) => {
      if (this.#isStoodInFor && !this.#isStopped) this.#observer?.checkInFailed(error)
      this.#isStoodInFor = false
      return null
    })
    this.#asking = null
    if (checkIn === null || this.#isStopped || this.#checkedInMs !== before) return
    if (before === null) this.#fallBack(cause)
    else this.#standIn(cause, checkIn.sentMs)
    this.#observer?.checkedIn(checkIn)
  }

  #standIn(cause: unknown, sentMs: number): void {
    if (!this.#isStoodInFor) this.#options.onStandIn(cause)
    this.#isStoodInFor = true
    this.#checkedInMs = sentMs
  }

  #fallBack(cause: unknown): void {
    this.#isFallenBack = true
    this.#restart?.cancel()
    this.#options.onFallback(cause)
    this.#post({ kind: 'stop' })
    if (this.#observer === null || this.#orders === null) return
    this.#options.fallback.start(this.#observer, this.#orders)
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
