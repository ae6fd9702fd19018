import type { IdGenerator } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type { AcquiredTrigger, AcquireRequest, JobStore, TriggerFiredResult } from '../jobstore/job-store.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import { nextTurn } from '../time/next-turn.ts'
import { Waiters } from '../time/waiters.ts'
import { FirstFirings } from './first-firings.ts'
import { FreeThread } from './free-thread.ts'
import { GivingBack, unreturned } from './giving-back.ts'
import { LargerBatches, type LargerBatchesOptions } from './larger-batches.ts'
import type { LateCauses } from './late-causes.ts'
import { LockedClaims } from './locked-claims.ts'
import { LookAgain } from './look-again.ts'
import { LoopFailures } from './loop-failures.ts'
import type { Notifier } from './notifier.ts'
import { planTurn, type TurnDecision, type TurnState } from './plan-turn.ts'

export interface QuartzSchedulerThreadOptions extends LargerBatchesOptions {
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly jobStore: JobStore
  readonly threadPool: ThreadPool
  readonly notifier: Notifier
  readonly lateCauses: LateCauses
  readonly idleWaitMs: number
  readonly maxBatchSize: number
  readonly batchTimeWindowMs: number
  readonly misfireThresholdMs: number
  /** Hands a firing to the pool; never throws. */
  readonly dispatch: (bundle: TriggerFiredBundle) => void
}

const switchThresholdMs = { persistent: 70, volatile: 7 }
/** The longest that the loop works before it yields to timers and I/O of the process. */
const sliceMs = 2
/** Share of the idle wait that is random, so that the nodes of a cluster do not ask at the same time. */
const idleJitter = 0.2

/**
 * The loop: blocks for available threads, acquires the next batch, waits for the fire time, fires. It carries out what
 * `planTurn` decides and is the only place that does; signals only set a flag and open the gate. It handles everything
 * that the store or the pool throws, and releases its claims before it ends.
 */
export class QuartzSchedulerThread {
  readonly #options: QuartzSchedulerThreadOptions
  readonly #gate: Gate
  readonly #lookAgain: LookAgain
  /** Stores triggers that may fire in the same step. */
  readonly firstFirings: FirstFirings
  readonly #haltSignal = new AbortController()
  readonly #freeThread: FreeThread
  #running: Promise<void> | null = null
  #firing: Promise<void> | null = null
  #paused = true
  #isAbandoned = false
  #held: readonly AcquiredTrigger[] = []
  #heldSinceMs: EpochMs = 0
  readonly #aside = new LockedClaims()
  #claimsUnknown = false
  #signal: TurnState['signal'] = null
  readonly #failures: LoopFailures
  readonly #givingBack: GivingBack
  #idleUntilMs = 0
  /** How many threads the search under way may take. */
  #asked = 0
  /** Whether the last search found less than it had asked for. */
  #isQuiet = false
  readonly #largerBatches: LargerBatches
  #lookAtMs = Number.POSITIVE_INFINITY
  #sliceStartMs = 0
  #isYielding = false
  /** Wall clock at which the present sleep ends by itself; infinite while the loop is awake. */
  #asleepUntilMs = Number.POSITIVE_INFINITY
  /** Callers of `nextSleep`. */
  readonly #restless = new Waiters()

  constructor(options: QuartzSchedulerThreadOptions) {
    this.#options = options
    this.#gate = new Gate(options.clock)
    this.#freeThread = new FreeThread({ ...options, gate: this.#gate, haltSignal: this.#haltSignal.signal })
    this.#lookAgain = new LookAgain(options.clock, options.ids)
    this.#failures = new LoopFailures(options)
    this.#givingBack = new GivingBack({
      ...options,
      gate: this.#gate,
      failures: this.#failures,
      backOff: (message, error) => {
        this.#backOff(message, error)
      },
      isHalted: () => this.#halted,
      isAbandoned: () => this.#isAbandoned,
    })
    this.#largerBatches = new LargerBatches(options)
    this.firstFirings = new FirstFirings({
      ...options,
      mayBeFree: () => !this.#paused && !this.#halted && options.threadPool.availableThreads() > 0,
      isFree: () => (this.#isIdle || this.#looksQuietly) && this.#freeThreads() > 0,
      dispatch: (bundle) => {
        this.#handOn(bundle)
      },
    })
  }

  /** Starts or resumes firing. */
  resume(): void {
    this.#paused = false
    this.#failures.clear()
    this.#idleUntilMs = 0
    this.#running ??= this.#run()
    this.#gate.wake()
  }

  /**
   * Fires nothing more until `resume`, and releases what is acquired. Resolves when no firing is on its way any more.
   */
  async pause(): Promise<void> {
    this.#paused = true
    this.#gate.wake()
    await this.#firing
    await this.firstFirings.settled()
  }

  /** Ends the loop; resolves when it has ended and holds no claim. */
  async halt(): Promise<void> {
    this.#haltSignal.abort()
    this.#gate.wake()
    await this.#running
    await this.firstFirings.settled()
  }

  /** Halts without another call of the store and ignores its answers: claims are left to recovery. */
  abandon(): void {
    this.#isAbandoned = true
    this.#haltSignal.abort()
    this.#gate.wake()
    this.#restless.wakeAll()
  }

  /** The store has answered somebody else: the loop asks it now, however long failures would have it wait. */
  storeAnswers(): void {
    this.#failures.endWait()
    this.#gate.wake()
  }

  /** Something may fire at `candidateMs`, or soon when that is null. */
  signalSchedulingChange(candidateMs: EpochMs | null): void {
    const known = this.#signal
    const earliest =
      candidateMs === null || known?.candidateMs === null
        ? null
        : Math.min(candidateMs, known?.candidateMs ?? Number.POSITIVE_INFINITY)
    this.#signal = { candidateMs: earliest }
    // The loop sees a trigger that is due after the end of its sleep when it wakes, so it is not woken for it. A clock
    // that is past the end of the sleep has jumped; then the loop is woken, because it would wake too late.
    const untilMs = this.#asleepUntilMs
    if (candidateMs === null || candidateMs < untilMs || this.#options.clock.now() > untilMs) {
      this.#gate.wake()
    }
  }

  /** Whether the loop sleeps, or is about to, and knows of nothing that is due, locked or not. */
  get isAtRest(): boolean {
    return this.#isIdle && !this.#aside.isAnyDue(this.#options.clock.now())
  }

  /** Whether the loop sleeps, or is about to, and can fire nothing now. */
  get #isIdle(): boolean {
    const state = this.#state()
    const { signal, nowMs, elapsedMs, retryAtMs } = state
    const isAwake = this.#asleepUntilMs === Number.POSITIVE_INFINITY && !this.#isYielding
    if (isAwake || elapsedMs < retryAtMs) return false
    if (signal !== null && (signal.candidateMs === null || signal.candidateMs <= nowMs)) return false
    return planTurn({ ...state, signal: null }).kind === 'sleep'
  }

  /** Whether a search is under way of which nothing is expected. */
  get #looksQuietly(): boolean {
    return this.#asked > 0 && this.#isQuiet && this.#signal === null && !this.#paused && !this.#halted
  }

  /** Resolves when the loop goes to sleep the next time, or ends. */
  async nextSleep(): Promise<void> {
    await this.#restless.wait(this.#options.clock)
  }

  async #run(): Promise<void> {
    for (;;) {
      if (this.#isAbandoned) return
      if (this.#sliceIsOver()) await this.#yield()
      const decision = planTurn(this.#state())
      switch (decision.kind) {
        case 'end':
          this.#restless.wakeAll()
          return
        case 'standby':
          await this.#sleep(this.#options.idleWaitMs)
          break
        case 'sleep':
          this.#noteSleep(decision.delayMs)
          await this.#sleep(decision.delayMs)
          break
        case 'release':
          await this.#release()
          break
        case 'acquire':
          await this.#acquire()
          break
        case 'fire':
          this.#held = decision.rest
          this.#setAside(await this.#fire(decision.due), this.#heldSinceMs)
          break
        case 'retry':
          await this.#retryLocked(decision)
          break
      }
    }
  }

  get #halted(): boolean {
    return this.#haltSignal.signal.aborted
  }

  #state(): TurnState {
    const { clock, idleWaitMs, jobStore, misfireThresholdMs } = this.#options
    return {
      halted: this.#halted,
      paused: this.#paused,
      held: this.#held,
      claimsUnknown: this.#claimsUnknown,
      heldSinceMs: this.#heldSinceMs,
      aside: {
        claims: this.#aside.all,
        retryAtMs: this.#aside.retryAtMs,
        maxCount: this.#aside.all.length === 0 ? 0 : this.#freeThreads(),
      },
      misfireThresholdMs,
      signal: this.#signal,
      nowMs: clock.now(),
      elapsedMs: clock.elapsedMs(),
      retryAtMs: this.#failures.retryAtMs,
      idleUntilMs: this.#idleUntilMs,
      lookAtMs: this.#lookAtMs,
      idleWaitMs,
      switchThresholdMs: jobStore.capabilities.persistent
        ? switchThresholdMs.persistent
        : switchThresholdMs.volatile,
    }
  }

  async #sleep(delayMs: number): Promise<void> {
    this.#asleepUntilMs = this.#options.clock.now() + delayMs
    this.#restless.wakeAll()
    await this.#gate.wait(delayMs)
    this.#asleepUntilMs = Number.POSITIVE_INFINITY
    this.#sliceStartMs = this.#options.clock.elapsedMs()
  }

  #noteSleep(delayMs: number): void {
    const { clock, lateCauses } = this.#options
    // While the store fails, the loop does not know what is due.
    if (clock.elapsedMs() >= this.#failures.retryAtMs) lateCauses.sleepsUntil(clock.now() + delayMs)
  }

  /** A store that answers synchronously would otherwise keep the loop in the microtask queue and starve the process. */
  #sliceIsOver(): boolean {
    return this.#options.clock.elapsedMs() - this.#sliceStartMs >= sliceMs
  }

  async #yield(): Promise<void> {
    const { clock } = this.#options
    this.#isYielding = true
    await nextTurn(clock)
    this.#isYielding = false
    this.#sliceStartMs = clock.elapsedMs()
  }

  async #acquire(): Promise<void> {
    const { clock, ids, lateCauses, threadPool, idleWaitMs } = this.#options
    const [next] = this.#held
    this.#lookAtMs = Number.POSITIVE_INFINITY
    try {
      // While the loop holds claims it does not wait for a free thread.
      if (next !== undefined && this.#freeThreads() === 0) return
      if (threadPool.availableThreads() === 0) {
        lateCauses.waitsForThread()
        const free = await this.#freeThread.nextUntil(this.#aside.retryAtMs)
        if (free === 0 && !this.#halted) {
          this.#backOff('The thread pool has no threads to give: was it shut down?', null)
        }
        // The state may have changed during the wait: plan again with the slots that are free now.
        if (this.#paused || threadPool.availableThreads() === 0) return
        // Claims that were locked have waited longer for a thread than those of a new acquisition.
        if (clock.elapsedMs() >= this.#aside.retryAtMs) return
      }
      // The state may change during this wait too.
      if (this.#freeThreads() === 0) {
        await this.firstFirings.nextEnd()
        return
      }
      const nextMs = next?.trigger.nextFireTimeMs ?? null
      // The answer contains what was signalled before this line; later signals are kept.
      this.#signal = null
      const askedWallMs = clock.now()
      const askedElapsedMs = clock.elapsedMs()
      const { fired, isWhole, lookAgainAtMs } = await this.#take(nextMs)
      lateCauses.looked()
      if (fired > 0 || this.#held.length === 0) this.#failures.end()
      const lookAtMs = this.#lookAgain.timeAfter(lookAgainAtMs)
      if (this.#held.length > 0) this.#lookAtMs = lookAtMs
      this.#idleUntilMs = 0
      if (fired > 0 || this.#held.length > 0) {
        // Held claims keep the age of their own acquisition. A clock that jumped back meanwhile must not make claims
        // look older than they are.
        if (nextMs === null) {
          this.#heldSinceMs = Math.min(askedWallMs, clock.now() - (clock.elapsedMs() - askedElapsedMs))
        }
      } else if (isWhole) {
        // Counted from the question, not from the answer, because the question looked ahead from then.
        this.#idleUntilMs = Math.min(lookAtMs, askedElapsedMs + idleWaitMs * (1 - idleJitter * ids.random()))
      }
    } catch (error) {
      // The loop must look again for what was signalled, and the store may have made claims before it failed.
      this.#idleUntilMs = 0
      this.#claimsUnknown = true
      this.#backOff('The job store failed while scanning for the next triggers to fire.', error)
    }
  }

  /** Free threads that no held claim needs and no new trigger. */
  #freeThreads(): number {
    const spokenFor = this.#held.length + this.firstFirings.reservedCount + this.#asked
    return Math.max(0, this.#options.threadPool.availableThreads() - spokenFor)
  }

  /**
   * Claims a batch and, where the store can do both at once, fires what is due of it. With `beforeMs` it claims only
   * triggers before that time and adds them to the held ones. `isWhole` is false when the search was cut short and may
   * have left due triggers.
   */
  async #take(beforeMs: EpochMs | null): Promise<{
    readonly fired: number
    readonly isWhole: boolean
    readonly lookAgainAtMs: EpochMs | null
  }> {
    const { clock, jobStore, idleWaitMs, maxBatchSize, batchTimeWindowMs } = this.#options
    const held = this.#held
    const free = this.#freeThreads()
    // While little is due, a thread is left to triggers that fire as they are stored.
    const spare = this.#isQuiet && jobStore.scheduleAndFire !== undefined && free > 1 ? 1 : 0
    const maxCount = Math.min(free - spare, maxBatchSize)
    let isWhole = true
    const request: AcquireRequest = {
      noLaterThanMs: beforeMs === null ? clock.now() + idleWaitMs : beforeMs - 1,
      maxCount,
      timeWindowMs: beforeMs === null ? batchTimeWindowMs : 0,
      isStillWanted: () => {
        isWhole &&= !this.#paused && !this.#halted
        return isWhole
      },
    }
    if (jobStore.acquireAndFire === undefined) {
      this.#held = [...(await jobStore.acquireNextTriggers(request)), ...held]
      return { fired: 0, isWhole, lookAgainAtMs: null }
    }
    this.#asked = maxCount
    // Claims that are held or set aside count on the same places.
    const isOwed = held.length > 0 || this.#aside.all.length > 0
    let end = (): void => {}
    this.#firing = new Promise((resolve) => {
      end = resolve
    })
    try {
      const batch = await jobStore.acquireAndFire({ ...request, ...(!isOwed && this.#largerBatches.next()) })
      const { fired, acquired, lookAgainAtMs = null } = batch
      this.#held = [...acquired, ...held]
      this.#largerBatches.end(fired)
      for (const bundle of fired) this.#handOn(bundle)
      this.#isQuiet = fired.length + acquired.length < maxCount && isWhole
      return { fired: fired.length, isWhole, lookAgainAtMs }
    } finally {
      this.#largerBatches.end([])
      this.#asked = 0
      this.#firing = null
      end()
    }
  }

  #handOn(bundle: TriggerFiredBundle): void {
    if (this.#isAbandoned) return
    this.#options.dispatch(bundle)
    this.#noteNextFireTime(bundle.nextFireTimeMs)
  }

  /**
   * Fires claims and answers those that are locked. `#firing` resolves when no firing is under way; it does not wait
   * for the release of claims.
   */
  async #fire(due: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    const firing = this.#dispatchFired(due)
    this.#firing = firing.then(() => {})
    const unfired = await firing
    this.#firing = null
    const { claims, locked, isAnswered } = unfired
    if (claims.length === 0) return locked
    return [...locked, ...(await this.#givingBack.release(claims, isAnswered))]
  }

  /**
   * Marks claims as fired and hands the firings to the pool; answers the claims that could not be fired and that this
   * node still holds.
   */
  async #dispatchFired(due: readonly AcquiredTrigger[]): Promise<{
    readonly claims: readonly AcquiredTrigger[]
    readonly locked: readonly AcquiredTrigger[]
    readonly isAnswered: boolean
  }> {
    let results: readonly TriggerFiredResult[]
    try {
      results = await this.#options.jobStore.triggersFired(due)
    } catch (error) {
      const claims = [...due, ...this.#held]
      this.#held = []
      this.#backOff('The job store failed while firing triggers.', error)
      return { claims, locked: [], isAnswered: false }
    }
    const failed: AcquiredTrigger[] = []
    const locked: AcquiredTrigger[] = []
    for (const [index, result] of results.entries()) {
      const acquired = due[index]
      if (result.kind === 'fired') {
        this.#handOn(result.bundle)
      } else if (acquired === undefined) {
        continue
      } else if (result.kind === 'locked') {
        locked.push(acquired)
      } else if (result.kind === 'failed') {
        failed.push(acquired)
        const key = acquired.trigger.key.toString()
        this.#backOff(`Trigger ${key} could not be fired and was released.`, result.error)
      }
    }
    if (failed.length === 0) this.#failures.end()
    return { claims: failed, locked, isAnswered: true }
  }

  /** Claims that another session's lock is in the way of are tried again soon; the loop does not wait for them. */
  #setAside(locked: readonly AcquiredTrigger[], sinceMs: EpochMs): void {
    this.#aside.add(locked, sinceMs, this.#options.clock.elapsedMs())
  }

  async #retryLocked({ fire, giveBack }: Extract<TurnDecision, { kind: 'retry' }>): Promise<void> {
    const tried = [...giveBack, ...fire]
    this.#aside.take(tried)
    const locked: AcquiredTrigger[] = []
    // First, because giving back may take long, and a standby that comes meanwhile has nothing fire after it.
    if (fire.length > 0) locked.push(...(await this.#fire(fire.map(({ acquired }) => acquired))))
    if (giveBack.length > 0) {
      const claims = giveBack.map(({ acquired }) => acquired)
      const kept = await this.#givingBack.release(claims)
      locked.push(...kept)
      // The loop looks for the released triggers again.
      if (kept.length < giveBack.length) this.#idleUntilMs = 0
    }
    // When the firing fails, claims that were held are given back with it, and may be locked as well.
    this.#aside.putBack(locked, { tried, sinceMs: this.#heldSinceMs }, this.#options.clock.elapsedMs())
  }

  /** A trigger that has fired may be due again before the rest of its batch: then the loop must look again. */
  #noteNextFireTime(nextFireTimeMs: EpochMs | null): void {
    if (nextFireTimeMs !== null && this.#held.length > 0) this.signalSchedulingChange(nextFireTimeMs)
  }

  async #release(): Promise<void> {
    const { jobStore, notifier } = this.#options
    const aside = this.#halted ? this.#aside.takeAll() : []
    const held = [...this.#held, ...aside.map(({ acquired }) => acquired)]
    const unknown = this.#claimsUnknown
    this.#held = []
    this.#claimsUnknown = false
    this.#idleUntilMs = 0
    let locked = await this.#givingBack.tryUntilDone(async () => {
      const kept = held.length > 0 || !unknown ? await jobStore.releaseAcquiredTriggers(held) : []
      if (unknown) await jobStore.releaseAllAcquiredTriggers()
      return kept
    })
    if (this.#halted) {
      locked = await this.#givingBack.waitForLocks(locked)
    }
    if (locked.length > 0 && this.#halted) notifier.error(unreturned, null)
    else this.#setAside(locked, this.#heldSinceMs)
  }

  #backOff(message: string, error: unknown): void {
    if (!this.#isAbandoned) this.#failures.add(message, error)
  }
}
