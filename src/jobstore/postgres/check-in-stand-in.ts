import { unawaited } from '../../core/promises.ts'
import { processElapsedMs, systemClock } from '../../time/clock.ts'
import { Gate } from '../../time/gate.ts'
import { nextTurn } from '../../time/next-turn.ts'
import {
  type CheckIn,
  type CheckInObserver,
  type CheckInOrders,
  retryDelayMs,
} from '../sql/cluster/check-in.ts'

export interface StandInOptions {
  /** A thread that is known to have trouble is waited for until the last check-in is this old. */
  readonly answerWithinMs: number
  /** The same for a thread that is not; longer than the interval of the check-ins. */
  readonly silentAfterMs: number
  /** One check-in over the store's connections, from the event loop. */
  readonly checkInOfStore: (orders: CheckInOrders) => Promise<CheckIn>
  /** The event loop has begun to stand in for the thread; once until that one checks in. */
  readonly onStandIn: (cause: unknown) => void
  /** The thread checks in, and the event loop no longer stands in for it. */
  readonly onThreadBack: () => void
}

/**
 * Checks in on the event loop while the thread does not, because peers must not recover a node that works. A thread may
 * boot slowly, end, get no connection, or hang without a word, so only the age of the last check-in counts, from the
 * entry into the cluster on: one that is too old is followed by a check-in of the event loop, and by another one each
 * interval, until the thread checks in.
 */
export class StandIn {
  readonly #options: StandInOptions
  readonly #observer: CheckInObserver
  readonly #gate = new Gate(systemClock)
  readonly #running: Promise<void>
  #orders: CheckInOrders
  /** When the last check-in was sent, or the node entered the cluster: `processElapsedMs`. */
  #checkedInMs = processElapsedMs()
  /** When the event loop is to check in: `processElapsedMs`. */
  #dueMs: number
  /** Why the thread does not check in; null while it does. */
  #trouble: unknown = new Error('The thread has not begun to check in yet.')
  #isTold = false
  /** Whether the event loop has stood in, and could do so the last time. */
  #isWorking = false
  #isStopped = false

  /** To be made when the node has entered the cluster. */
  constructor(options: StandInOptions, observer: CheckInObserver, orders: CheckInOrders) {
    this.#options = options
    this.#observer = observer
    this.#orders = orders
    this.#dueMs = this.#checkedInMs + options.answerWithinMs
    this.#running = this.#run()
    // It throws only what the observer throws.
    unawaited(this.#running, (error) => {
      observer.checkInFailed(error)
    })
  }

  /** Whether the event loop checks in for the thread, and can. */
  get isWorking(): boolean {
    return this.#isWorking
  }

  order(orders: CheckInOrders): void {
    this.#orders = orders
  }

  /** Checks in at once where the thread may not be there to do it. */
  hurry(): void {
    if (!this.#isTold) return
    this.#dueMs = 0
    this.#gate.wake()
  }

  threadCheckedIn(sentMs: number): void {
    const { onThreadBack, silentAfterMs } = this.#options
    this.#checkedInMs = sentMs
    this.#dueMs = sentMs + silentAfterMs
    this.#trouble = null
    this.#isWorking = false
    if (this.#isTold) onThreadBack()
    this.#isTold = false
  }

  threadFailed(cause: unknown): void {
    if (this.#trouble === null) {
      this.#dueMs = Math.min(this.#dueMs, this.#checkedInMs + this.#options.answerWithinMs)
      this.#gate.wake()
    }
    this.#trouble = cause
  }

  /** Ends after the check-in under way. */
  async stop(): Promise<void> {
    this.cutOff()
    await this.#running.catch(() => {})
  }

  cutOff(): void {
    this.#isStopped = true
    this.#gate.wake()
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const waitMs = this.#dueMs - processElapsedMs()
      if (waitMs <= 0) await this.#checkIn(this.#orders)
      else {
        await this.#gate.wait(waitMs)
        // After the event loop was blocked, timers come before what the thread has posted meanwhile.
        await nextTurn(systemClock)
      }
    }
  }

  async #checkIn(orders: CheckInOrders): Promise<void> {
    const { checkInOfStore, silentAfterMs } = this.#options
    const sentMs = processElapsedMs()
    this.#trouble ??= new Error(`The thread has said nothing for ${silentAfterMs} ms.`)
    this.#dueMs = Number.POSITIVE_INFINITY
    try {
      const checkIn = await checkInOfStore(orders)
      if (this.#isOver()) return
      this.#stoodIn(sentMs, orders.intervalMs)
      this.#observer.checkedIn(checkIn)
    } catch (error) {
      if (this.#isOver()) return
      this.#isWorking = false
      this.#dueMs = Math.min(this.#dueMs, processElapsedMs() + retryDelayMs(orders.intervalMs))
      this.#observer.checkInFailed(error)
    }
  }

  /** Also when the thread has checked in meanwhile. */
  #isOver(): boolean {
    return this.#isStopped || this.#trouble === null
  }

  #stoodIn(sentMs: number, intervalMs: number): void {
    this.#checkedInMs = sentMs
    // A server that answers slowly is not asked without a pause.
    const earliestMs = processElapsedMs() + retryDelayMs(intervalMs)
    this.#dueMs = Math.min(this.#dueMs, Math.max(sentMs + intervalMs, earliestMs))
    this.#isWorking = true
    if (!this.#isTold) this.#options.onStandIn(this.#trouble)
    this.#isTold = true
  }
}
