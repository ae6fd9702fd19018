import { checkMethods, checkOptions, checkWhole, listOf } from '../core/arguments.ts'
import { describeValue, isObject } from '../core/options.ts'
import { unawaited } from '../core/promises.ts'
import { textOf } from '../core/thrown-value.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { type Clock, checkClock, systemClock } from '../time/clock.ts'
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
  /**
   * Whether this process takes work: it is started, its store answers and takes what it writes, and it is not about to
   * stop.
   */
  ready(): Promise<HealthReport>
  /** Whether the rules hold. They say how the schedule does, of all nodes together, and do not count for `ready`. */
  rules(): Promise<HealthReport>
  /** From now on it is not ready: call it a while before a shutdown, so that others send no more work. */
  beginStop(): void
}

const what = 'schedulerHealth'
/** The store or a rule that has not answered by then is asked anew: the answer may be lost with a connection. */
const lostAnswerMs = 60_000

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
  /** By the monotonic clock: the other one may be set meanwhile. */
  readonly #watchedSinceMs: number
  readonly #store: Remembered
  readonly #rules: Remembered
  /** Questions without an answer so far, by the rule or the scheduler that is asked. */
  readonly #asked = new Map<
    object,
    { readonly sinceMs: number; readonly answer: Promise<readonly HealthReason[]> }
  >()
  #isStopping = false
  #isCheckingIn = true
  #isTakenOver = false

  constructor(scheduler: Scheduler, options: Required<SchedulerHealthOptions>) {
    const { clock, maxAgeMs } = options
    this.#scheduler = scheduler
    this.#options = options
    this.#watchedSinceMs = clock.elapsedMs()
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
    const { notEndingSince, notFiringSince } = this.#scheduler.getMetaData()
    if (notFiringSince !== null) {
      const since = notFiringSince.toISOString()
      reasons.push({
        code: 'notFiring',
        message: `The node has tried in vain to fire triggers since ${since}.`,
      })
    }
    if (notEndingSince !== null) {
      const since = notEndingSince.toISOString()
      reasons.push({
        code: 'notEnding',
        message: `The node has tried in vain to write the ends of executions since ${since}.`,
      })
    }
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
    const ask = async (): Promise<readonly HealthReason[]> => {
      await this.#scheduler.getCalendarNames()
      return []
    }
    return this.#within(this.#scheduler, ask, failed)
  }

  async #askRules(): Promise<readonly HealthReason[]> {
    const { clock, rules } = this.#options
    const nowMs = clock.now()
    const watchedMs = clock.elapsedMs() - this.#watchedSinceMs
    const check = { scheduler: this.#scheduler, nowMs, watchedSinceMs: nowMs - watchedMs }
    const found = await Promise.all(
      rules.map((rule) =>
        this.#within(
          rule,
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
    subject: object,
    ask: () => Promise<readonly HealthReason[]>,
    failed: (why: string) => readonly HealthReason[],
  ): Promise<readonly HealthReason[]> {
    const { clock, timeoutMs } = this.#options
    const asking = this.#answerOf(subject, ask)
    try {
      const isAnswered = await settledWithin(clock, timeoutMs, asking)
      return isAnswered ? await asking : failed(`no answer within ${timeoutMs} ms.`)
    } catch (error) {
      return failed(textOf(error))
    }
  }

  /** While a question is not answered, others wait for its answer: one that hangs costs as much as one. */
  #answerOf(subject: object, ask: () => Promise<readonly HealthReason[]>): Promise<readonly HealthReason[]> {
    const nowMs = this.#options.clock.elapsedMs()
    const before = this.#asked.get(subject)
    if (before !== undefined && nowMs - before.sinceMs < lostAnswerMs) return before.answer
    const asked = { sinceMs: nowMs, answer: ask() }
    this.#asked.set(subject, asked)
    const forget = (): void => {
      if (this.#asked.get(subject) === asked) this.#asked.delete(subject)
    }
    unawaited(asked.answer.then(forget), forget)
    return asked.answer
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
