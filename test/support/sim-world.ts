import { seededIds } from '../../src/core/ids.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import type { HistoryFact } from './history.ts'
import { HistoryChecker } from './history-checker.ts'
import { interceptJobStore, type StoreCall, type StoreMethod } from './intercept-job-store.ts'
import { SimClock } from './sim-clock.ts'
import { type SimJobsOptions, simJobs, simListener } from './sim-jobs.ts'
import { counterJobKey, SimOperations } from './sim-operations.ts'
import { SimRandom } from './sim-random.ts'
import { SimStore, type StoreFaults } from './sim-store.ts'

export interface SimulationResult {
  readonly seed: number
  readonly violations: readonly string[]
  /** The last events, for a failure message. */
  readonly tail: string
  /** The same for every run of a seed. */
  readonly fingerprint: string
  readonly runs: number
  readonly firings: number
  readonly misfires: number
}

/** Puts a known bug in the place of good code, for one simulation. */
export interface Mutation {
  /** Changes the store behind the faults and the history. */
  readonly store?: (store: JobStore, world: MutationWorld) => JobStore
  /** Changes what the scheduler gets from the store. */
  readonly answer?: (call: StoreCall, answer: unknown) => unknown
  /** Patches code; returns what undoes it. */
  readonly patch?: (world: MutationWorld) => () => void
}
export interface MutationWorld {
  readonly clock: SimClock
  /** The store's calls that are under way. */
  readonly inFlight: ReadonlySet<StoreMethod>
  /** The firings in which a listener has thrown. */
  readonly troubled: ReadonlySet<string>
  /** For patches: what has been halted. */
  readonly halts: Set<object>
}

/** What a world without store faults may report. */
const onPurpose = [
  /^Listener 'sim' threw in /,
  /could not be instantiated/,
  /asked to be refired more than/,
  /executions? still runs? although the time to shut down is over/,
]

/** Lateness that rounding and the store's switch threshold explain, milliseconds. */
const latenessMaxMs = 20

/** Runs one seed from an empty store to a halted scheduler, and answers what was wrong. */
export async function simulate(seed: number, mutation: Mutation = {}): Promise<SimulationResult> {
  const world = new SimWorld(seed, mutation)
  await world.run()
  const { checker } = world
  return {
    seed,
    violations: checker.violations,
    tail: checker.tail(),
    fingerprint: checker.fingerprint(),
    runs: checker.runCount,
    firings: checker.firedCount,
    misfires: checker.misfireCount,
  }
}

class SimWorld {
  readonly checker: HistoryChecker
  readonly #seed: number
  readonly #mutation: Mutation
  readonly #random: SimRandom
  readonly #clock: SimClock
  readonly #ram = new RAMJobStore()
  readonly #troubled = new Set<string>()
  readonly #mutationWorld: MutationWorld
  readonly #simStore: SimStore
  readonly #faults: StoreFaults | null
  readonly #disturbs: boolean
  readonly #idleWaitMs: number
  readonly #misfireThresholdMs: number
  readonly #poolSize: number
  readonly #durationMaxMs: number
  #counterRuns = 0
  #chaos = true
  #isCutOff = false

  constructor(seed: number, mutation: Mutation) {
    this.#seed = seed
    this.#mutation = mutation
    const random = new SimRandom(seed)
    this.#random = random
    const ties = random.fork()
    this.#clock = new SimClock(Date.UTC(2026, 0, 15, 12), () => ties.next())
    this.#idleWaitMs = random.pick([1000, 5000, 30_000])
    this.#misfireThresholdMs = random.pick([500, 3000, 10_000, 60_000])
    this.#poolSize = random.pick([1, 2, 4, 10])
    this.#durationMaxMs = random.pick([10, 1000, 6000])
    const level = random.pick([0, 0, 0.02, 0.1])
    this.#faults = level === 0 ? null : { delay: 0.2, failure: level, lostReply: level / 2 }
    this.#disturbs = random.chance(0.5)
    this.checker = new HistoryChecker({
      misfireThresholdMs: this.#misfireThresholdMs,
      poolSize: this.#poolSize,
      latenessMaxMs,
    })
    const inFlight = new Set<StoreMethod>()
    this.#mutationWorld = { clock: this.#clock, inFlight, troubled: this.#troubled, halts: new Set() }
    const inner = mutation.store?.(this.#ram, this.#mutationWorld) ?? this.#ram
    this.#simStore = new SimStore(inner, this.#clock, random.fork(), inFlight, (fact) => {
      this.#observe(fact)
    })
  }

  async run(): Promise<void> {
    const undo = this.#mutation.patch?.(this.#mutationWorld)
    try {
      await this.#clock.runUntil(this.#live(), 24 * 3_600_000)
    } catch (error) {
      this.checker.report(error instanceof Error ? String(error.stack) : String(error))
    } finally {
      undo?.()
    }
  }

  #observe(fact: HistoryFact): void {
    if (fact.kind === 'started') this.#countRun(fact.fireInstanceId)
    this.checker.observe({ ...fact, atMs: this.#clock.now() })
  }

  #countRun(fireInstanceId: string): void {
    const firing = this.checker.jobKeyOf(fireInstanceId)
    if (firing === counterJobKey.toString()) this.#counterRuns++
  }

  async #live(): Promise<void> {
    const scheduler = await this.#createScheduler()
    const operations = new SimOperations(scheduler, this.#clock, this.#random.fork(), (problem) => {
      this.checker.report(problem)
    })
    this.#simStore.faults = this.#faults
    await operations.populate()
    await operations.persist(() => scheduler.start())
    await this.#chaosFor(this.#random.integer(20_000, 120_000), operations)
    await this.#calmDown(scheduler, operations)
    await this.#checkCalm(scheduler)
    this.#simStore.faults = this.#faults
    const ending = this.#chaosFor(20_000, operations)
    await this.#clock.sleep(this.#random.integer(0, 15_000))
    await this.#halt(scheduler)
    this.#chaos = false
    await ending
    await this.#checkHalted()
  }

  async #createScheduler(): Promise<Scheduler> {
    const random = this.#random
    const jobs: SimJobsOptions = {
      clock: this.#clock,
      random: random.fork(),
      observe: (fact) => {
        this.#observe(fact)
      },
      durationMaxMs: this.#durationMaxMs,
      failure: random.pick([0, 0.1, 0.3]),
    }
    const scheduler = await createScheduler({
      logger: false,
      clock: this.#clock,
      ids: seededIds(this.#seed),
      jobStore: this.#answering(this.#simStore.store),
      threadPool: inProcessThreadPool({ size: this.#poolSize }),
      jobs: simJobs(jobs),
      idleWaitMs: this.#idleWaitMs,
      misfireThresholdMs: this.#misfireThresholdMs,
      maxBatchSize: random.integer(1, this.#poolSize),
      batchTimeWindowMs: random.pick([0, 0, 100, 1000]),
      maxRefires: 5,
      interruptJobsOnShutdown: random.chance(0.5),
      interruptJobsOnShutdownWithWait: random.chance(0.5),
    })
    const troubled = random.chance(0.5)
    const listener = simListener({
      random: random.fork(),
      observe: jobs.observe,
      veto: troubled ? 0.05 : 0,
      failure: troubled ? 0.05 : 0,
      troubled: this.#troubled,
    })
    scheduler.listenerManager.addTriggerListener(listener)
    scheduler.listenerManager.addJobListener(listener)
    scheduler.events.on('schedulerError', ({ message }) => {
      this.#judgeError(message)
    })
    scheduler.events.on('schedulerStarted', () => {
      this.#observe({ kind: 'schedulerStarted' })
    })
    scheduler.events.on('schedulerInStandbyMode', () => {
      this.#observe({ kind: 'schedulerStandby' })
    })
    scheduler.events.on('schedulerShuttingdown', () => {
      this.#observe({ kind: 'schedulerHalted' })
    })
    scheduler.events.on('shutdownIncomplete', ({ isStoreCutOff }) => {
      if (!isStoreCutOff) return
      this.#isCutOff = true
      this.#observe({ kind: 'storeCutOff' })
    })
    return scheduler
  }

  /** Nothing may be reported but what this world does on purpose. */
  #judgeError(message: string): void {
    const isOnPurpose = onPurpose.some((pattern) => pattern.test(message))
    if (!isOnPurpose && this.#faults === null) this.checker.report(`reported without a reason: ${message}`)
  }

  #answering(store: JobStore): JobStore {
    const { answer } = this.#mutation
    if (answer === undefined) return store
    return interceptJobStore(store, async (call) => answer(call, await call.proceed()))
  }

  /** Lets operators, clocks and the store do their worst for a while. */
  async #chaosFor(durationMs: number, operations: SimOperations): Promise<void> {
    const until = this.#clock.elapsedMs() + durationMs
    const pace = this.#random.pick([500, 3000, 12_000])
    const goesOn = (): boolean => this.#chaos && this.#clock.elapsedMs() < until
    const operate = async (): Promise<void> => {
      while (goesOn()) {
        await this.#clock.sleep(this.#random.integer(0, pace))
        if (goesOn()) await operations.runOne()
      }
    }
    const disturb = async (): Promise<void> => {
      while (goesOn()) {
        await this.#clock.sleep(this.#random.integer(1000, 40_000))
        if (goesOn()) this.#disturbClock()
      }
    }
    await Promise.all([operate(), operate(), ...(this.#disturbs ? [disturb()] : [])])
  }

  #disturbClock(): void {
    const random = this.#random
    if (random.chance(0.5)) {
      const ms = random.pick([30_000, 5000, 200])
      this.#clock.stall(ms)
      this.#observe({ kind: 'disturbed', untilMs: this.#clock.now(), what: `stalled for ${ms} ms` })
    } else {
      const byMs = random.pick([3_600_000, -3_600_000, 7000, -7000])
      this.#clock.jump(byMs)
      const untilMs = this.#clock.now() + this.#idleWaitMs
      this.#observe({ kind: 'jumped', byMs, untilMs })
    }
  }

  /** Ends all trouble and gives the scheduler the time to catch up. */
  async #calmDown(scheduler: Scheduler, operations: SimOperations): Promise<void> {
    this.#simStore.faults = null
    await scheduler.start()
    await operations.attempt(() => scheduler.resumeAll())
    for (const key of await scheduler.getTriggerKeys(GroupMatcher.anyGroup())) {
      await scheduler.resetTriggerFromErrorState(key)
    }
    await this.#clock.sleep(2 * this.#idleWaitMs + 60_000)
  }

  /** After the trouble: the store is what the model says, and nothing is left over. */
  async #checkCalm(scheduler: Scheduler): Promise<void> {
    const { checker } = this
    const nowMs = this.#clock.now()
    const keys = await this.#ram.getTriggerKeys(GroupMatcher.anyGroup())
    const stored = new Set(keys.map(String))
    for (const key of checker.lives.keys()) {
      if (!stored.has(key)) checker.report(`${key} is gone from the store`)
    }
    const isBusy = scheduler.getCurrentlyExecutingJobs().length >= this.#poolSize
    for (const key of keys) {
      const life = checker.lives.get(key.toString())
      const trigger = await this.#ram.getTrigger(key)
      const state = await this.#ram.getTriggerState(key)
      if (life === undefined) {
        checker.report(`${key.toString()} is stored and should not be`)
      } else if (trigger?.nextFireTimeMs !== (state === 'COMPLETE' ? null : life.trigger.nextFireTimeMs)) {
        checker.report(`${key.toString()} has the next fire time ${String(trigger?.nextFireTimeMs)}`)
      } else if (state === 'NORMAL' && !isBusy && checker.isOverdue(life, nowMs)) {
        checker.report(`${key.toString()} is overdue and has no outcome`)
      }
    }
    const running = new Set(scheduler.getCurrentlyExecutingJobs().map((context) => context.fireInstanceId))
    for (const id of checker.openFirings()) {
      if (!running.has(id)) checker.report(`firing ${id} is open although nothing runs for it`)
    }
    await this.#checkCounter()
  }

  async #checkCounter(): Promise<void> {
    const { executing } = this.checker.stateOf(counterJobKey.toString())
    const counted = (await this.#ram.getJob(counterJobKey))?.jobDataMap['count'] ?? 0
    const expected = this.#counterRuns - executing
    if (executing === 0 && counted !== expected) {
      this.checker.report(`the counter job ran ${expected} times and counted ${JSON.stringify(counted)}`)
    }
  }

  async #halt(scheduler: Scheduler): Promise<void> {
    const random = this.#random
    const wait = random.chance(0.5)
    await scheduler.shutdown({
      waitForJobsToComplete: wait,
      ...(wait && random.chance(0.5) ? { timeoutMs: random.integer(0, 5000) } : {}),
    })
    this.#simStore.faults = null
    // Jobs that were not waited for end by themselves, and their ends are still written down.
    await this.#clock.sleep(this.#durationMaxMs * 8 + 60_000)
    if (scheduler.getCurrentlyExecutingJobs().length > 0) this.checker.report('jobs run long after the halt')
  }

  /** Nothing is acquired after a halt: what waits can be acquired again, all of it. */
  async #checkHalted(): Promise<void> {
    const { checker } = this
    if (this.#clock.timerCount > 0) checker.report(`${this.#clock.timerCount} timers are left armed`)
    // What a store that did not answer holds is settled by a recovery, which memory has none of.
    if (this.#isCutOff) return
    const waiting = new Map<string, string>()
    for (const [key, life] of checker.lives) {
      const state = await this.#ram.getTriggerState(life.trigger.key)
      if (state === 'NORMAL' && life.trigger.nextFireTimeMs !== null) waiting.set(key, life.jobKey)
      if (state === 'BLOCKED' && !checker.stateOf(life.jobKey).isOpen)
        checker.report(`${key} is BLOCKED for ever`)
    }
    const acquired = await this.#ram.acquireNextTriggers({
      noLaterThanMs: Number.MAX_SAFE_INTEGER,
      maxCount: 10_000,
      timeWindowMs: Number.MAX_SAFE_INTEGER / 2,
    })
    const got = new Set(acquired.map(({ trigger }) => trigger.key.toString()))
    const jobs = new Set(acquired.map(({ trigger }) => String(trigger.jobKey)))
    for (const [key, jobKey] of waiting) {
      // A policy may have ended it just now.
      if (checker.lives.get(key)?.trigger.nextFireTimeMs === null) continue
      // Of a non-concurrent job a batch holds one trigger, for the others.
      const isRepresented = checker.stateOf(jobKey).nonConcurrent && jobs.has(jobKey)
      if (!got.has(key) && !isRepresented) checker.report(`${key} cannot be acquired after the halt`)
    }
  }
}
