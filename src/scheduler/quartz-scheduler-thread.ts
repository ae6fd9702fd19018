import type { IdGenerator } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type { AcquiredTrigger, AcquireRequest, JobStore } from '../jobstore/job-store.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import { nextTurn } from '../time/next-turn.ts'
import { Waiters } from '../time/waiters.ts'
import { Claims } from './claims.ts'
import { ClockWatch } from './clock-watch.ts'
import { FirstFirings } from './first-firings.ts'
import { FreeThread } from './free-thread.ts'
import { LargerBatches, type LargerBatchesOptions } from './larger-batches.ts'
import type { LateCauses } from './late-causes.ts'
import { LookAgain } from './look-again.ts'
import { LoopFailures } from './loop-failures.ts'
import type { Notifier } from './notifier.ts'
import { planTurn, type TurnState } from './plan-turn.ts'

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
/** How often a loop that holds claims, and is to ask for more, looks for a free thread. */
const threadLookMs = 250
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
  readonly #halt = new AbortController()
  readonly #abandon = new AbortController()
  readonly #freeThread: FreeThread
  #running: Promise<void> | null = null
  /** A search under way that may fire. */
  #searching: Promise<void> | null = null
  #paused = true
  readonly #claims: Claims
  #signal: TurnState['signal'] = null
  readonly #failures: LoopFailures
  readonly #clockWatch: ClockWatch
  #idleUntilMs = 0
  /** How many threads the search under way may take. */
  #asked = 0
  /** Whether the last search found less than it had asked for. */
  #isQuiet = false
  readonly #largerBatches: LargerBatches
  /** The last look found no thread that is free but for the claims that are held. */
  #isCrowded = false
  #lookAtMs = Number.POSITIVE_INFINITY
  /** Whether some of the claims that are held were added to others. */
  #hasAdded = false
  #sliceStartMs = 0
  #isYielding = false
  /** Wall clock at which the present sleep ends by itself; infinite while the loop is awake. */
  #asleepUntilMs = Number.POSITIVE_INFINITY
  /** Callers of `nextSleep`. */
  readonly #restless = new Waiters()

  constructor(options: QuartzSchedulerThreadOptions) {
    this.#options = options
    this.#gate = new Gate(options.clock)
    this.#clockWatch = new ClockWatch(options)
    const haltSignal = this.#halt.signal
    const abandonSignal = this.#abandon.signal
    const handOn = (bundle: TriggerFiredBundle): void => {
      this.#handOn(bundle)
    }
    this.#freeThread = new FreeThread({ ...options, gate: this.#gate, haltSignal })
    this.#lookAgain = new LookAgain(options.clock, options.ids)
    this.#failures = new LoopFailures({ ...options, abandonSignal })
    this.#claims = new Claims({
      ...options,
      gate: this.#gate,
      failures: this.#failures,
      haltSignal,
      abandonSignal,
      handOn,
    })
    this.#largerBatches = new LargerBatches(options)
    this.firstFirings = new FirstFirings({
      ...options,
      mayBeFree: () => !this.#paused && !this.#halted && options.threadPool.availableThreads() > 0,
      isFree: () => (this.#isIdle || this.#looksQuietly) && this.#freeThreads() > 0,
      dispatch: handOn,
    })
  }

  /** Since when it finds and fires no trigger because the store fails or is silent, by the wall clock; else null. */
  get inVainSinceMs(): EpochMs | null {
    return this.#failures.inVainSinceMs
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
    await this.#searching
    await this.#claims.firing
    await this.firstFirings.settled()
  }

  /** Ends the loop; resolves when it has ended and holds no claim. */
  async halt(): Promise<void> {
    this.#halt.abort()
    this.#gate.wake()
    await this.#running
    await this.firstFirings.settled()
  }

  /** Halts without another call of the store and ignores its answers: claims are left to recovery. */
  abandon(): void {
    this.#abandon.abort()
    this.#halt.abort()
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
    return this.#isIdle && !this.#claims.aside.isAnyDue(this.#options.clock.now())
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

  /** Resolves when the loop goes to sleep the next time, or ends. The loop puts nothing off meanwhile. */
  async nextSleep(): Promise<void> {
    const slept = this.#restless.wait(this.#options.clock)
    // A loop that sleeps has put off what it would do now.
    if (planTurn(this.#state()).kind !== 'sleep') this.#gate.wake()
    await slept
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
          this.#idleUntilMs = 0
          await this.#claims.release()
          break
        case 'acquire':
          await this.#acquire()
          break
        case 'fire':
          await this.#claims.fire(decision)
          // The look that added claims to the rest has looked no further than them.
          if (this.#hasAdded && decision.rest.length > 0) this.#lookAtMs = this.#options.clock.elapsedMs()
          break
        case 'retry':
          // The loop looks again for what was given back, and for the next times of what has fired.
          if (await this.#claims.retry(decision)) this.#idleUntilMs = 0
          break
      }
    }
  }

  get #isAbandoned(): boolean {
    return this.#abandon.signal.aborted
  }

  get #halted(): boolean {
    return this.#halt.signal.aborted
  }

  /** Other stores claim all that comes before a claim together with it, or signal it. */
  get #leavesOut(): boolean {
    const { jobStore } = this.#options
    return jobStore.capabilities.clustered && jobStore.acquireAndFire !== undefined
  }

  #state(): TurnState {
    const { clock, idleWaitMs, misfireThresholdMs } = this.#options
    const { areUnknown, aside, held, heldSinceMs } = this.#claims
    return {
      halted: this.#halted,
      paused: this.#paused,
      held,
      claimsUnknown: areUnknown,
      heldSinceMs,
      aside: {
        claims: aside.all,
        retryAtMs: aside.retryAtMs,
        maxCount: aside.all.length === 0 ? 0 : this.#freeThreads(),
      },
      misfireThresholdMs,
      // Peers are told of each claim that is given back, and look for it.
      mayAdd: this.#leavesOut && held.length > 0 && this.#freeThreads() > 0,
      signal: this.#signal,
      nowMs: clock.now(),
      elapsedMs: clock.elapsedMs(),
      retryAtMs: this.#failures.retryAtMs,
      idleUntilMs: this.#idleUntilMs,
      lookAtMs: this.#lookAtMs,
      idleWaitMs,
      switchThresholdMs: this.#switchThresholdMs,
    }
  }

  /** A caller that waits for the loop to rest, and may hold the clock, has it look at once. */
  get #switchThresholdMs(): number {
    if (this.#restless.areAny) return 0
    const { persistent } = this.#options.jobStore.capabilities
    return persistent ? switchThresholdMs.persistent : switchThresholdMs.volatile
  }

  async #sleep(delayMs: number): Promise<void> {
    this.#asleepUntilMs = this.#options.clock.now() + delayMs
    this.#restless.wakeAll()
    this.#clockWatch.look()
    await this.#gate.wait(delayMs)
    this.#clockWatch.look()
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

  /**
   * While the loop holds claims it does not wait for a free thread, and nothing wakes it when there is one. Where the
   * claims themselves have all that are free, what is due before them is taken only when they are given back.
   */
  async #lookWithoutThread({ trigger }: AcquiredTrigger): Promise<void> {
    const { clock, threadPool } = this.#options
    const isAgain = this.#isCrowded
    this.#isCrowded = this.#leavesOut && threadPool.availableThreads() > 0
    this.#lookAtMs = clock.elapsedMs() + threadLookMs
    const remainingMs = (trigger.nextFireTimeMs ?? 0) - clock.now()
    if (!isAgain || !this.#isCrowded || remainingMs < threadLookMs) return
    this.#isCrowded = false
    this.#idleUntilMs = 0
    await this.#claims.release()
  }

  async #acquire(): Promise<void> {
    const { clock, ids, lateCauses, threadPool, idleWaitMs } = this.#options
    const [next] = this.#claims.held
    try {
      if (next !== undefined && this.#freeThreads() === 0) {
        await this.#lookWithoutThread(next)
        return
      }
      if (threadPool.availableThreads() === 0) {
        lateCauses.waitsForThread()
        const free = await this.#freeThread.nextUntil(this.#claims.aside.retryAtMs).finally(() => {
          lateCauses.waitsNoMore()
        })
        if (free === 0 && !this.#halted) {
          this.#failures.add('The thread pool has no threads to give: was it shut down?', null)
        }
        // The state may have changed during the wait: plan again with the slots that are free now.
        if (this.#paused || threadPool.availableThreads() === 0) return
        // Claims that were locked have waited longer for a thread than those of a new acquisition.
        if (clock.elapsedMs() >= this.#claims.aside.retryAtMs) return
      }
      // The state may change during this wait too.
      if (this.#freeThreads() === 0) {
        this.#failures.asks('a call that stores a trigger to be fired at once')
        await this.firstFirings.nextEnd()
        this.#failures.asksNoMore()
        return
      }
      const nextMs = next?.trigger.nextFireTimeMs ?? null
      this.#lookAtMs = Number.POSITIVE_INFINITY
      // The answer contains what was signalled before this line; later signals are kept.
      this.#signal = null
      const asked = { wallMs: clock.now(), elapsedMs: clock.elapsedMs() }
      this.#failures.asks('the search for the next triggers')
      const { fired, isWhole, lookAgainAtMs } = await this.#take(nextMs, asked)
      this.#failures.answered()
      lateCauses.looked()
      const areHeld = this.#claims.held.length > 0
      this.#hasAdded = next !== undefined && (this.#hasAdded || this.#claims.held[0] !== next)
      if (fired > 0 || !areHeld) this.#failures.end()
      const lookAtMs = this.#lookAgain.timeAfter(lookAgainAtMs)
      // A look that fired what is due before the claims that are held may have left more of it.
      if (areHeld) this.#lookAtMs = next !== undefined && fired > 0 ? asked.elapsedMs : lookAtMs
      this.#idleUntilMs = 0
      if (fired === 0 && !areHeld && isWhole) {
        // Counted from the question, not from the answer, because the question looked ahead from then.
        this.#idleUntilMs = Math.min(lookAtMs, asked.elapsedMs + idleWaitMs * (1 - idleJitter * ids.random()))
      }
    } catch (error) {
      // The loop must look again for what was signalled, and the store may have made claims before it failed.
      this.#idleUntilMs = 0
      this.#claims.loseAnswer()
      this.#failures.add('The job store failed while scanning for the next triggers to fire.', error)
    }
  }

  /** Free threads that no held claim needs and no new trigger. */
  #freeThreads(): number {
    const spokenFor = this.#claims.held.length + this.firstFirings.reservedCount + this.#asked
    return Math.max(0, this.#options.threadPool.availableThreads() - spokenFor)
  }

  /**
   * Claims a batch and, where the store can do both at once, fires what is due of it. With `beforeMs` it claims only
   * triggers before that time and adds them to the held ones. `isWhole` is false when the search was cut short and may
   * have left due triggers.
   */
  async #take(
    beforeMs: EpochMs | null,
    asked: { readonly wallMs: EpochMs; readonly elapsedMs: number },
  ): Promise<{
    readonly fired: number
    readonly isWhole: boolean
    readonly lookAgainAtMs: EpochMs | null
  }> {
    const { clock, jobStore, idleWaitMs, maxBatchSize, batchTimeWindowMs } = this.#options
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
    // A clock that jumped back meanwhile must not make claims look older than they are.
    const sinceMs = (): EpochMs => Math.min(asked.wallMs, clock.now() - (clock.elapsedMs() - asked.elapsedMs))
    if (jobStore.acquireAndFire === undefined) {
      const acquired = await jobStore.acquireNextTriggers(request)
      this.#claims.add(acquired, sinceMs())
      return { fired: 0, isWhole, lookAgainAtMs: null }
    }
    this.#asked = maxCount
    // Claims that are held or set aside count on the same places.
    const isOwed = this.#claims.held.length > 0 || this.#claims.aside.all.length > 0
    let end = (): void => {}
    this.#searching = new Promise((resolve) => {
      end = resolve
    })
    try {
      const batch = await jobStore.acquireAndFire({ ...request, ...(!isOwed && this.#largerBatches.next()) })
      const { fired, acquired, lookAgainAtMs = null } = batch
      this.#claims.add(acquired, sinceMs())
      this.#largerBatches.end(fired)
      for (const bundle of fired) this.#handOn(bundle)
      this.#isQuiet = fired.length + acquired.length < maxCount && isWhole
      return { fired: fired.length, isWhole, lookAgainAtMs }
    } finally {
      this.#largerBatches.end([])
      this.#asked = 0
      this.#searching = null
      end()
    }
  }

  #handOn(bundle: TriggerFiredBundle): void {
    if (this.#isAbandoned) return
    this.#options.dispatch(bundle)
    const { nextFireTimeMs } = bundle
    // A trigger that has fired may be due again before the claims that are held: then the loop must look again.
    if (nextFireTimeMs !== null && this.#claims.held.length > 0) this.signalSchedulingChange(nextFireTimeMs)
  }
}
