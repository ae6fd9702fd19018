import type { JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { MisfireCause } from '../jobstore/misfires.ts'
import type { Clock, ClockTimer, EpochMs } from '../time/clock.ts'
import { plannedFireTimeMs, type Trigger } from '../triggers/trigger.ts'

/** A time in which the loop did not look after due triggers, both ends included. */
interface Gap {
  readonly cause: 'outage' | 'poolFull'
  readonly fromMs: EpochMs
  readonly toMs: EpochMs
}

interface Run {
  readonly fromMs: EpochMs
  readonly toMs: EpochMs
}

/** Most gaps, and most jobs whose last long run is known. */
const gapsMax = 100
const jobsMax = 1000
/** A loop that looks this much later than it meant to was away. */
const awayFromMs = 1000
/** While it waits for a thread it looks for nothing; so often it shows that it is there. */
const beatMs = 500

/** What this node knows of why triggers were not fired in time: what its loop, its pool and their jobs were doing. */
export class LateCauses {
  readonly #clock: Clock
  readonly #misfireThresholdMs: number
  readonly #gaps: Gap[] = []
  readonly #runs = new KeyMap<JobKey, Run>()
  /** Until then the loop has looked after due triggers. */
  #seenUntilMs: EpochMs = Number.NEGATIVE_INFINITY
  /** Until then the loop has waited for a free thread, since it looked last; null when it has not. */
  #fullUntilMs: EpochMs | null = null
  #beat: ClockTimer | null = null

  constructor(clock: Clock, misfireThresholdMs: number) {
    this.#clock = clock
    this.#misfireThresholdMs = misfireThresholdMs
  }

  /** The loop has looked for due triggers, and the store has answered. */
  looked(): void {
    this.#close(this.#clock.now())
  }

  /** The loop knows of nothing that is due before an instant, and wakes when there is something new. */
  sleepsUntil(untilMs: EpochMs): void {
    // What it has not looked after before is not made good by a sleep.
    if (this.#openGaps(this.#clock.now()).length === 0) this.#seenUntilMs = untilMs
  }

  /** The loop begins to wait for a free thread; it says when it waits no more. */
  waitsForThread(): void {
    this.#isThere()
    this.#beat ??= this.#clock.setTimer(
      beatMs,
      () => {
        this.#beat = null
        this.waitsForThread()
      },
      { unref: true },
    )
  }

  waitsNoMore(): void {
    this.#beat?.cancel()
    this.#beat = null
    this.#isThere()
  }

  /** A job has run that forbids concurrent execution. */
  blocked(jobKey: JobKey, fromMs: EpochMs, toMs: EpochMs): void {
    if (toMs - fromMs < this.#misfireThresholdMs) return
    // The map keeps the order in which jobs ran.
    this.#runs.delete(jobKey)
    this.#runs.set(jobKey, { fromMs, toMs })
    const [oldest] = this.#runs.size > jobsMax ? this.#runs.keys() : []
    if (oldest !== undefined) this.#runs.delete(oldest)
  }

  /** Why a trigger that is found late was not fired at its planned instant. */
  of(trigger: Trigger): MisfireCause {
    const plannedMs = plannedFireTimeMs(trigger)
    if (plannedMs === null) return 'late'
    const run = trigger.jobKey === null ? undefined : this.#runs.get(trigger.jobKey)
    if (run !== undefined && plannedMs >= run.fromMs && plannedMs <= run.toMs) return 'blocked'
    const gaps = [...this.#gaps, ...this.#openGaps(this.#clock.now())]
    const gap = gaps.findLast(({ fromMs, toMs }) => plannedMs >= fromMs && plannedMs <= toMs)
    return gap?.cause ?? 'late'
  }

  /** The process runs, and the loop waits for a thread. */
  #isThere(): void {
    const nowMs = this.#clock.now()
    // The wait was frozen with the process: that part of the gap has another cause, and is kept apart.
    if (this.#wasAway(nowMs)) this.#close(nowMs)
    this.#fullUntilMs = nowMs
  }

  #close(nowMs: EpochMs): void {
    for (const gap of this.#openGaps(nowMs)) this.#keep(gap)
    this.#seenUntilMs = nowMs
    this.#fullUntilMs = null
  }

  #wasAway(nowMs: EpochMs): boolean {
    return nowMs - (this.#fullUntilMs ?? this.#seenUntilMs) > awayFromMs
  }

  /** Since the loop looked last: first a full pool, if there was one, then an outage, if there was one. */
  #openGaps(nowMs: EpochMs): Gap[] {
    const seenMs = this.#seenUntilMs
    const fullUntilMs = this.#fullUntilMs
    const awayMs = this.#wasAway(nowMs) ? Math.max(seenMs, fullUntilMs ?? seenMs) : nowMs
    const gaps: Gap[] = []
    if (fullUntilMs !== null && awayMs > seenMs)
      gaps.push({ cause: 'poolFull', fromMs: seenMs, toMs: awayMs })
    if (nowMs > awayMs) gaps.push({ cause: 'outage', fromMs: awayMs, toMs: nowMs })
    return gaps
  }

  #keep(gap: Gap): void {
    const last = this.#gaps.at(-1)
    // A pool that is full for long has a free thread now and then.
    if (last?.cause === gap.cause && Math.abs(gap.fromMs - last.toMs) <= awayFromMs) {
      this.#gaps[this.#gaps.length - 1] = { ...gap, fromMs: last.fromMs }
      return
    }
    this.#gaps.push(gap)
    if (this.#gaps.length > gapsMax) this.#gaps.shift()
  }
}
