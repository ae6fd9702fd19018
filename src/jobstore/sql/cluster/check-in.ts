import type { Clock } from '../../../time/clock.ts'
import { Gate } from '../../../time/gate.ts'
import { later, type SqlRow, type SqlStatement } from '../kernel/statement.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import type { WitnessNaming } from './node-trust.ts'
import type { WitnessLook, WitnessOrders } from './witness.ts'

/** The statements of a check-in. */
export interface CheckInStatements {
  /** Changes one row while the node is registered. */
  readonly checkIn: SqlStatement
  /** Reads the rows of all nodes. */
  readonly look: SqlStatement
}

export interface CheckInOrders {
  readonly bootId: string
  readonly intervalMs: number
  /** Made anew for each check-in where it contains the time of the node's clock. */
  readonly statements: () => CheckInStatements
  /** Null while no other node would look at a witness. */
  readonly witness: () => WitnessOrders | null
}

/** A check-in that was answered. */
export interface CheckIn {
  readonly bootId: string
  /** False when the row of this start does not exist any more: a peer recovered the node. */
  readonly isOurs: boolean
  readonly rows: readonly SqlRow[]
  /**
   * When the check-in was sent, and the middle and the length of the time in which the rows were read, on the clock's
   * monotonic time.
   */
  readonly sentMs: number
  readonly lookedMs: number
  readonly lookTookMs: number
  readonly witness: WitnessNaming
}

export interface CheckInObserver {
  checkedIn(checkIn: CheckIn): void
  /** A check-in failed; the next one comes soon. */
  checkInFailed(error: unknown): void
  /** The session of the check-ins has taken the witness, or has seen that others are lost or are there again. */
  looked(look: WitnessLook): void
  /** The session that held the witness has ended. */
  witnessLost(): void
}

/** Makes the check-ins of a node: on the event loop, or in a thread that a blocked event loop does not hold up. */
export interface CheckInDriver {
  /** Checks in once in each interval from now on; the first time after one interval. */
  start(observer: CheckInObserver, orders: CheckInOrders): void
  /** Uses these statements from now on. */
  order(orders: CheckInOrders): void
  /** Checks in at once. */
  hurry(): void
  /** When the session that holds the witness answered last, on the clock's monotonic time. */
  provenMs(): number
  /** Ends after the check-in under way. */
  stop(): Promise<void>
  /** Gives up the check-in under way; then `stop`, also one that has begun, ends soon. */
  cutOff(): void
}

/**
 * A check-in that failed is tried again after a part of the interval, so that there are several tries before peers take
 * the node for failed.
 */
export function retryDelayMs(intervalMs: number): number {
  return Math.min(500, Math.ceil(intervalMs / 3))
}

/** Checks in on the event loop, over the store's own connections. */
export class EventLoopCheckIns implements CheckInDriver {
  readonly #transactor: SqlTransactor
  readonly #clock: Clock
  readonly #gate: Gate
  #orders: CheckInOrders | null = null
  #running: Promise<void> | null = null
  #isStopped = false

  constructor(transactor: SqlTransactor) {
    this.#transactor = transactor
    this.#clock = transactor.session.context.clock
    this.#gate = new Gate(this.#clock)
  }

  start(observer: CheckInObserver, orders: CheckInOrders): void {
    this.#orders = orders
    this.#running ??= this.#run(observer, orders)
  }

  order(orders: CheckInOrders): void {
    this.#orders = orders
  }

  hurry(): void {
    this.#gate.wake()
  }

  /** There is no such session. */
  provenMs(): number {
    return Number.NEGATIVE_INFINITY
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#gate.wake()
    await this.#running
  }

  /** The operation under way is the store's, which is cut off as well. */
  cutOff(): void {
    this.#isStopped = true
    this.#gate.wake()
  }

  async #run(observer: CheckInObserver, first: CheckInOrders): Promise<void> {
    let delayMs = first.intervalMs
    for (;;) {
      await this.#gate.wait(delayMs)
      if (this.#isStopped) return
      const orders = this.#orders ?? first
      try {
        observer.checkedIn(await checkInOver(this.#transactor, orders, 'none'))
        delayMs = orders.intervalMs
      } catch (error) {
        if (this.#hasStopped()) return
        observer.checkInFailed(error)
        delayMs = retryDelayMs(orders.intervalMs)
      }
    }
  }

  #hasStopped(): boolean {
    return this.#isStopped
  }
}

/**
 * Checks in over the store's own connections, which hold no witness. All of it goes in one trip: on a connection that
 * carries no more answers it would keep the row locked, and peers could not recover the node.
 */
export async function checkInOver(
  transactor: SqlTransactor,
  { bootId, statements }: CheckInOrders,
  witness: WitnessNaming,
): Promise<CheckIn> {
  const { clock } = transactor.session.context
  const { checkIn, look } = statements()
  const sent = await transactor.run(
    function* () {
      const sentMs = clock.elapsedMs()
      return { sentMs, changed: yield* later(checkIn), looked: yield* later(look) }
    },
    { lock: 'none', tells: 'none', goesAtOnce: true },
  )
  const { sentMs, changed, looked } = sent
  const lookTookMs = clock.elapsedMs() - sentMs
  return {
    bootId,
    isOurs: changed.reply.changes === 1,
    rows: looked.reply.rows,
    sentMs,
    lookedMs: sentMs + lookTookMs / 2,
    lookTookMs,
    witness,
  }
}
