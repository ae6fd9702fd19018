import { checkMethods, checkOptions, checkWhole, listOf } from '../core/arguments.ts'
import { describeValue, isObject } from '../core/options.ts'
import { textOf } from '../core/thrown-value.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { type Clock, checkClock, type EpochMs, systemClock } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'
import { type HealthReason, type HealthReport, reportOf } from './health-report.ts'
import type { HealthRule } from './health-rules.ts'

/** Options of `schedulerHealth`; all have defaults. */
export interface SchedulerHealthOptions {
  /** What must hold besides, for `rules()`. Default none. */
  readonly rules?: readonly HealthRule[]
  /** How long the store, or a rule, may take to answer. Milliseconds, 1 to 60,000, default 2,000. */
  readonly timeoutMs?: number
  /** How old an answer may be before the store is asked anew. Milliseconds, 0 to 600,000, default 1,000. */
  readonly maxAgeMs?: number
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
}

/** Whether a scheduler is well, for those who look after its process. None of its methods rejects. */
export interface SchedulerHealth {
  readonly schedulerName: string
  /** False when only a new process helps. */
  live(): HealthReport
  /** Whether this process takes work: it is started, its store answers, and it is not about to stop. */
  ready(): Promise<HealthReport>
  /** Whether the rules hold. They say how the schedule does, of all nodes together, and do not count for `ready`. */
  rules(): Promise<HealthReport>
  /** From now on it is not ready: call it a while before a shutdown, so that others send no more work. */
  beginStop(): void
}

const what = 'schedulerHealth'

/**
 * Watches whether a scheduler is well. Make it once, next to the scheduler, and ask it as often as you like.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is unknown or out of bounds
 */
export function schedulerHealth(scheduler: Scheduler, options: SchedulerHealthOptions = {}): SchedulerHealth {
  checkMethods('a scheduler', ['getCalendarNames', 'getMetaData'])(what, 'scheduler', scheduler)
  checkOptions(what, options, {
    rules: listOf(checkMethods('a health rule', ['check'])),
    timeoutMs: checkWhole(1, 60_000),
    maxAgeMs: checkWhole(0, 600_000),
    clock: checkClock,
  })
  return new WatchedHealth(scheduler, {
    rules: options.rules ?? [],
    timeoutMs: options.timeoutMs ?? 2000,
    maxAgeMs: options.maxAgeMs ?? 1000,
    clock: options.clock ?? systemClock,
  })
}

class WatchedHealth implements SchedulerHealth {
  readonly #scheduler: Scheduler
  readonly #options: Required<SchedulerHealthOptions>
  readonly #watchedSinceMs: EpochMs
  readonly #store: Remembered
  readonly #rules: Remembered
  #isStopping = false
  #isCheckingIn = true
  #isTakenOver = false

  constructor(scheduler: Scheduler, options: Required<SchedulerHealthOptions>) {
    const { clock, maxAgeMs } = options
    this.#scheduler = scheduler
    this.#options = options
    this.#watchedSinceMs = clock.now()
    this.#store = new Remembered(clock, maxAgeMs, () => this.#askStore())
    this.#rules = new Remembered(clock, maxAgeMs, () => this.#askRules())
    scheduler.events.on('schedulerShuttingdown', () => {
      this.#isStopping = true
    })
    scheduler.events.on('checkInFailed', () => {
      this.#isCheckingIn = false
    })
    scheduler.events.on('checkInRestored', () => {
      this.#isCheckingIn = true
    })
    scheduler.events.on('recoveredByPeer', () => {
      // In a cluster the node takes part anew; on a store of one node it writes nothing more.
      this.#isTakenOver = !scheduler.getMetaData().jobStoreClustered
    })
  }

  get schedulerName(): string {
    return this.#scheduler.schedulerName
  }

  live(): HealthReport {
    const reasons: HealthReason[] = []
    if (this.#scheduler.isShutdown)
      reasons.push({ code: 'shutDown', message: 'The scheduler has shut down.' })
    if (this.#isTakenOver) {
      reasons.push({ code: 'takenOver', message: 'Another process has taken over the work of this one.' })
    }
    return reportOf(reasons)
  }

  async ready(): Promise<HealthReport> {
    const reasons = [...this.live().reasons]
    if (this.#isStopping && !this.#scheduler.isShutdown) {
      reasons.push({ code: 'stopping', message: 'The scheduler is about to stop.' })
    }
    if (!this.#isCheckingIn) {
      const message = 'The node cannot show the others that it is alive.'
      reasons.push({ code: 'notCheckingIn', message })
    }
    if (this.#scheduler.isShutdown) return reportOf(reasons)
    if (!this.#scheduler.isStarted && !this.#isStopping && !isAttached(this.#scheduler)) {
      reasons.push({ code: 'notStarted', message: 'The scheduler stands by: it fires nothing.' })
    }
    return reportOf([...reasons, ...(await this.#store.reasons())])
  }

  async rules(): Promise<HealthReport> {
    return reportOf(await this.#rules.reasons())
  }

  beginStop(): void {
    this.#isStopping = true
  }

  async #askStore(): Promise<readonly HealthReason[]> {
    const failed = (why: string): readonly HealthReason[] => [
      { code: 'storeUnavailable', message: `The job store does not answer: ${why}` },
    ]
    return this.#within(async () => {
      await this.#scheduler.getCalendarNames()
      return []
    }, failed)
  }

  async #askRules(): Promise<readonly HealthReason[]> {
    const { clock, rules } = this.#options
    const check = { scheduler: this.#scheduler, nowMs: clock.now(), watchedSinceMs: this.#watchedSinceMs }
    const found = await Promise.all(
      rules.map((rule) =>
        this.#within(
          async () => {
            const reason: unknown = await rule.check(check)
            // A function that has nothing to say often answers nothing.
            if (reason === null || reason === undefined) return []
            if (isReason(reason)) return [reason]
            throw new TypeError(
              `it answered ${describeValue(reason)}, no reason with code and message, and not null.`,
            )
          },
          (why) => [{ code: 'ruleFailed', message: `The rule '${rule.name}' could not be checked: ${why}` }],
        ),
      ),
    )
    return found.flat()
  }

  async #within(
    ask: () => Promise<readonly HealthReason[]>,
    failed: (why: string) => readonly HealthReason[],
  ): Promise<readonly HealthReason[]> {
    const { clock, timeoutMs } = this.#options
    let reasons = failed(`no answer within ${timeoutMs} ms.`)
    const asking = (async () => {
      reasons = await ask()
    })()
    try {
      await settledWithin(clock, timeoutMs, asking)
      return reasons
    } catch (error) {
      return failed(textOf(error))
    }
  }
}

function isReason(answer: unknown): answer is HealthReason {
  return isObject(answer) && 'code' in answer && 'message' in answer
}

/** Only looks at the data of others: it has no threads and was never started. */
export function isAttached(scheduler: Scheduler): boolean {
  const { threadPoolSize, runningSince } = scheduler.getMetaData()
  return threadPoolSize === 0 && runningSince === null
}

/** An answer that is asked for once at a time and kept for a while, so that many askers cost as much as one. */
class Remembered {
  readonly #clock: Clock
  readonly #maxAgeMs: number
  readonly #ask: () => Promise<readonly HealthReason[]>
  #asking: Promise<readonly HealthReason[]> | null = null
  #last: readonly HealthReason[] | null = null
  #lastMs = 0

  constructor(clock: Clock, maxAgeMs: number, ask: () => Promise<readonly HealthReason[]>) {
    this.#clock = clock
    this.#maxAgeMs = maxAgeMs
    this.#ask = ask
  }

  async reasons(): Promise<readonly HealthReason[]> {
    if (this.#last !== null && this.#clock.elapsedMs() - this.#lastMs < this.#maxAgeMs) return this.#last
    this.#asking ??= this.#askAnew()
    return this.#asking
  }

  async #askAnew(): Promise<readonly HealthReason[]> {
    try {
      this.#last = await this.#ask()
      this.#lastMs = this.#clock.elapsedMs()
      return this.#last
    } finally {
      this.#asking = null
    }
  }
}
