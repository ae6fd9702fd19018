import { JobPersistenceError } from '../../src/core/errors.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type { AcquiredAndFired } from '../../src/jobstore/job-store.ts'
import type { SqlRunner, TransactionOptions } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlProgram, SqlReply, SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import type { SqlSession } from '../../src/jobstore/sql/session/sql-session.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { Clock, ClockTimer, EpochMs } from '../../src/time/clock.ts'
import { InjectedFailure } from './intercept-job-store.ts'
import type { SimClock } from './sim-clock.ts'
import type { SimForeignLocks } from './sim-foreign-locks.ts'
import type { SimRandom } from './sim-random.ts'

/** How badly the way of a node to its database behaves: chances per transaction. */
export interface WayFaults {
  readonly delay: number
  readonly failure: number
  readonly lostReply: number
  readonly crash: number
}

/** Puts known bugs in the place of good statements. */
export interface StatementBug {
  /** What is sent instead of a statement. */
  readonly statement?: (statement: SqlStatement, lock: string) => SqlStatement
  /** What is sent after a statement, with its reply to be given on. */
  readonly after?: (statement: SqlStatement, reply: SqlReply) => SqlProgram<SqlReply>
  /** What becomes of what a search answers. */
  readonly searched?: (found: AcquiredAndFired) => AcquiredAndFired
  /** What becomes of a firing that was made as its trigger was stored. */
  readonly scheduled?: (fired: TriggerFiredBundle | null) => TriggerFiredBundle | null
}

/** A store whose answers are as a bug makes them. */
export function storeWith({ searched, scheduled }: StatementBug, engine: SqlEngine): SqlJobStore {
  const store = new SqlJobStore(engine)
  const search = store.acquireAndFire?.bind(store)
  if (searched !== undefined && search !== undefined) {
    store.acquireAndFire = async (request) => searched(await search(request))
  }
  const schedule = store.scheduleAndFire?.bind(store)
  if (scheduled !== undefined && schedule !== undefined) {
    store.scheduleAndFire = async (entry, slot) => scheduled(await schedule(entry, slot))
  }
  return store
}

/**
 * A process, as far as others can tell: its clock may be wrong, it may stand still for a while, and it may be gone,
 * after which nothing of it ever happens.
 */
export class SimProcess implements Clock {
  state: 'up' | 'frozen' | 'dead' = 'up'
  /** When it stood still or was gone, on the base clock's monotonic time. */
  readonly troubles: { readonly fromMs: number; untilMs: number }[] = []
  readonly #base: SimClock
  readonly #skewMs: number
  #queue: (() => void)[] = []

  constructor(base: SimClock, skewMs: number) {
    this.#base = base
    this.#skewMs = skewMs
  }

  now(): EpochMs {
    return this.#base.now() + this.#skewMs
  }
  /** The time without this machine's error. */
  baseNow(): EpochMs {
    return this.#base.now()
  }
  elapsedMs(): number {
    return this.#base.elapsedMs()
  }
  setTimer(delayMs: number, onFire: () => void): ClockTimer {
    return this.#guarded(onFire, (run) => this.#base.setTimer(delayMs, run))
  }
  setImmediate(onFire: () => void): ClockTimer {
    return this.#guarded(onFire, (run) => this.#base.setImmediate(run))
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.setTimer(ms, resolve)
    })
  }

  /** Does something in this process: at once, when it goes on again, or never. */
  do(action: () => void): void {
    if (this.state === 'up') action()
    else if (this.state === 'frozen') this.#queue.push(action)
  }

  /** Resolves when the process can go on; never for one that is gone. */
  passes(): Promise<void> {
    if (this.state === 'up') return Promise.resolve()
    return new Promise((resolve) => {
      this.do(resolve)
    })
  }

  freeze(): void {
    if (this.state !== 'up') return
    this.state = 'frozen'
    this.#troubled()
  }

  thaw(): void {
    if (this.state !== 'frozen') return
    this.state = 'up'
    for (const trouble of this.troubles) trouble.untilMs = Math.min(trouble.untilMs, this.#base.elapsedMs())
    for (const action of this.#queue.splice(0)) this.do(action)
  }

  kill(): void {
    this.state = 'dead'
    this.#troubled()
    this.#queue = []
  }

  #troubled(): void {
    this.troubles.push({ fromMs: this.#base.elapsedMs(), untilMs: Number.POSITIVE_INFINITY })
  }

  #guarded(onFire: () => void, arm: (run: () => void) => ClockTimer): ClockTimer {
    let isCancelled = false
    const timer = arm(() => {
      this.do(() => {
        if (!isCancelled) onFire()
      })
    })
    return {
      cancel: () => {
        isCancelled = true
        timer.cancel()
      },
    }
  }
}

/** A process with a scheduler in it. */
export interface SimNode {
  readonly number: number
  readonly instanceId: string
  readonly process: SimProcess
  readonly way: SimWay
  readonly session: () => SqlSession | null
  readonly scheduler: () => Scheduler | null
}

export interface SimWayOptions {
  readonly process: SimProcess
  readonly random: SimRandom
  readonly shared: SqlRunner
  readonly bug: StatementBug
  readonly foreignLocks: SimForeignLocks
  /** Told as whom the statements of a transaction are carried out. */
  readonly actAs: (lock: string) => void
}

/** The way of one node to the shared database. */
export class SimWay implements SqlRunner {
  faults: WayFaults | null = null
  /** Until then the node reaches no server, on the base clock's monotonic time. */
  isCutUntilMs = 0
  readonly #options: SimWayOptions

  constructor(options: SimWayOptions) {
    this.#options = options
  }

  async transact<Answer>(begin: () => SqlProgram<Answer>, options: TransactionOptions): Promise<Answer> {
    const { shared } = this.#options
    return this.#around(options, (failAt) =>
      shared.transact(() => this.#watch(begin(), options.lock, failAt), options),
    )
  }
  async read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    const { shared } = this.#options
    return this.#around(null, () => shared.read(() => this.#watch(begin(), 'read', null)))
  }
  async close(): Promise<void> {}

  get isCut(): boolean {
    return this.#options.process.elapsedMs() < this.isCutUntilMs
  }

  async #around<Answer>(
    options: TransactionOptions | null,
    carryOut: (failAt: number | null) => Promise<Answer>,
  ): Promise<Answer> {
    const { process, random } = this.#options
    await process.passes()
    if (this.isCut) {
      throw new JobPersistenceError('The connection was cut.', { cause: new InjectedFailure() })
    }
    const { faults } = this
    if (faults === null) return carryOut(null)
    const isDelayed = random.chance(faults.delay)
    const failAt = random.chance(faults.failure) ? random.integer(0, 12) : null
    const loses = random.chance(faults.lostReply)
    const crash = random.chance(faults.crash) ? random.pick(['before', 'after'] as const) : null
    if (isDelayed) await this.#sleep()
    if (crash === 'before') process.kill()
    await process.passes()
    if (failAt === 0) throw new JobPersistenceError('The database is away.', { cause: new InjectedFailure() })
    const answer = await carryOut(options === null ? null : failAt)
    if (crash === 'after') process.kill()
    await process.passes()
    if (isDelayed) await this.#sleep()
    // The patient are told the truth in the end.
    if (loses && options?.onDoubt !== 'patient') {
      const cause = new InjectedFailure()
      throw new JobPersistenceError('The answer is lost.', { code: 'ERR_COMMIT_UNKNOWN', cause })
    }
    return answer
  }

  #sleep(): Promise<void> {
    const { process, random } = this.#options
    return new Promise((resolve) => {
      process.setTimer(random.chance(0.1) ? random.integer(20, 300) : random.integer(0, 15), resolve)
    })
  }

  *#watch<Answer>(program: SqlProgram<Answer>, lock: string, failAt: number | null): SqlProgram<Answer> {
    const { bug, actAs, foreignLocks } = this.#options
    actAs(lock)
    let step = program.next()
    for (let n = 1; step.done !== true; n++) {
      if (n === failAt) {
        throw new JobPersistenceError('The database went away.', { cause: new InjectedFailure() })
      }
      const statement = bug.statement?.(step.value, lock) ?? step.value
      let reply: SqlReply = foreignLocks.sift(statement, yield statement)
      if (bug.after !== undefined) reply = yield* bug.after(step.value, reply)
      step = program.next(reply)
    }
    return step.value
  }
}
