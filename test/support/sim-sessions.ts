import type {
  CheckIn,
  CheckInDriver,
  CheckInObserver,
  CheckInOrders,
} from '../../src/jobstore/sql/cluster/check-in.ts'
import { EventLoopCheckIns } from '../../src/jobstore/sql/cluster/check-in.ts'
import { suspectLookMs, witnessLookMs } from '../../src/jobstore/sql/cluster/witness.ts'
import type { SqlTransactor } from '../../src/jobstore/sql/session/sql-transactor.ts'
import type { SimClock } from './sim-clock.ts'
import type { SimProcess, SimWay } from './sim-cluster-node.ts'
import type { SimRandom } from './sim-random.ts'

/** The longest time for which a node whose session was cut cannot connect again. */
const longestCutMs = 400

/** The sessions of check-ins, as the server knows them: one ends with its process, or when it is cut. */
export class SimSessions {
  readonly #clock: SimClock
  readonly #random: SimRandom
  readonly #holders = new Map<number, SimCheckIns>()
  readonly #drivers: SimCheckIns[] = []

  constructor(clock: SimClock, random: SimRandom) {
    this.#clock = clock
    this.#random = random
  }

  driver(transactor: SqlTransactor, process: SimProcess, way: SimWay): CheckInDriver {
    const driver = new SimCheckIns(this, transactor, { process, way })
    this.#drivers.push(driver)
    return driver
  }

  /** Cuts sessions of nodes that live, now and then. */
  async disturb(untilMs: number): Promise<void> {
    const random = this.#random
    while (this.#clock.elapsedMs() < untilMs) {
      await this.#clock.sleep(random.integer(200, 3000))
      const held = this.#drivers.filter((driver) => driver.isUp)
      if (held.length > 0) random.pick(held).cut(this.#clock.elapsedMs() + random.integer(0, longestCutMs))
    }
  }

  take(key: number, holder: SimCheckIns): boolean {
    const before = this.#holders.get(key)
    if (before !== undefined && before !== holder && before.isConnected) return false
    this.#holders.set(key, holder)
    return true
  }

  isHeld(key: number): boolean {
    return this.#holders.get(key)?.isConnected === true
  }
}

/** Check-ins over a session that others see end, as those of the thread are. */
class SimCheckIns implements CheckInDriver {
  readonly #sessions: SimSessions
  readonly #inner: EventLoopCheckIns
  readonly #process: SimProcess
  readonly #way: SimWay
  #observer: CheckInObserver | null = null
  #orders: CheckInOrders | null = null
  #isSessionOpen = false
  #isStopped = false
  /** Whether the check-in under way names the witness. */
  #isNaming = false
  #seen = new Set<number>()
  #lost: readonly number[] = []

  constructor(
    sessions: SimSessions,
    transactor: SqlTransactor,
    { process, way }: { readonly process: SimProcess; readonly way: SimWay },
  ) {
    this.#sessions = sessions
    this.#inner = new EventLoopCheckIns(transactor)
    this.#process = process
    this.#way = way
  }

  get isUp(): boolean {
    return this.isConnected && this.#process.state === 'up'
  }

  get isConnected(): boolean {
    return this.#isSessionOpen && !this.#isStopped && this.#process.state !== 'dead'
  }

  start(observer: CheckInObserver, orders: CheckInOrders): void {
    this.#observer = observer
    this.#orders = orders
    this.#inner.start(
      {
        checkedIn: (checkIn) => {
          this.#checkedIn(checkIn)
        },
        checkInFailed: (error) => {
          observer.checkInFailed(error)
          this.#process.setTimer(suspectLookMs, () => {
            this.#inner.hurry()
          })
        },
        looked: () => {},
        witnessLost: () => {},
      },
      this.#named(orders),
    )
    this.#inner.hurry()
    this.#lookLater(witnessLookMs)
  }

  order(orders: CheckInOrders): void {
    this.#orders = orders
    this.#inner.order(this.#named(orders))
    this.#inner.hurry()
  }

  hurry(): void {
    this.#inner.hurry()
  }

  /** It tells each look. */
  provenMs(): number {
    return Number.NEGATIVE_INFINITY
  }

  stop(): Promise<void> {
    this.#isStopped = true
    return this.#inner.stop()
  }

  cutOff(): void {
    this.#isStopped = true
    this.#inner.cutOff()
  }

  /** Ends the session; until an instant the node reaches no server at all. */
  cut(untilMs: number): void {
    this.#isSessionOpen = false
    this.#seen = new Set()
    this.#lost = []
    this.#way.isCutUntilMs = untilMs
    this.#process.do(() => {
      this.#observer?.witnessLost()
      this.#inner.hurry()
    })
  }

  /** Takes the witness, as each check-in does that finds none taken. */
  #named(orders: CheckInOrders): CheckInOrders {
    return {
      ...orders,
      statements: () => {
        const witness = orders.witness()
        this.#isNaming = witness !== null && this.#take(witness.key)
        const { checkIn, look } = orders.statements()
        return { checkIn: witness !== null && this.#isNaming ? witness.checkIn : checkIn, look }
      },
    }
  }

  #take(key: number): boolean {
    if (this.#isSessionOpen) return true
    if (this.#way.isCut || !this.#sessions.take(key, this)) return false
    this.#isSessionOpen = true
    this.#tell([])
    return true
  }

  #checkedIn(checkIn: CheckIn): void {
    // A session that was cut meanwhile has told of it.
    const witness = !this.#isNaming ? 'none' : this.#isSessionOpen ? 'named' : 'unknown'
    this.#observer?.checkedIn({ ...checkIn, witness })
  }

  #lookLater(delayMs: number): void {
    this.#process.setTimer(delayMs, () => {
      if (this.#isStopped) return
      this.#look()
      this.#lookLater(this.#lost.length > 0 ? suspectLookMs : witnessLookMs)
    })
  }

  #look(): void {
    const watched = this.#orders?.witness()?.watched ?? []
    if (!this.#isSessionOpen) return
    const before = this.#lost
    for (const key of watched) if (this.#sessions.isHeld(key)) this.#seen.add(key)
    this.#lost = watched.filter((key) => !this.#sessions.isHeld(key) && this.#seen.has(key))
    this.#tell(this.#lost)
    if (this.#lost.some((key) => !before.includes(key))) this.#inner.hurry()
  }

  #tell(lost: readonly number[]): void {
    this.#observer?.looked({ sentMs: this.#process.elapsedMs(), nowMs: this.#process.baseNow(), lost })
  }
}
