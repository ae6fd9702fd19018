import type { JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { MisfireCause } from '../jobstore/misfires.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
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

/** What this node knows of why triggers were not fired in time: what its loop, its pool and their jobs were doing. */
export class LateCauses {
  readonly #clock: Clock
  readonly #misfireThresholdMs: number
  readonly #gaps: Gap[] = []
  readonly #runs = new KeyMap<JobKey, Run>()
  /** Until then the loop has looked after due triggers. */
  #seenUntilMs: EpochMs = Number.NEGATIVE_INFINITY
  /** The loop has waited for a free thread since it looked last. */
  #isFull = false

  constructor(clock: Clock, misfireThresholdMs: number) {
    this.#clock = clock
    this.#misfireThresholdMs = misfireThresholdMs
  }

  /** The loop has looked for due triggers, and the store has answered. */
  looked(): void {
    const gap = this.#openGap(this.#clock.now())
    if (gap !== null) this.#keep(gap)
    this.#seenUntilMs = this.#clock.now()
    this.#isFull = false
  }

  /** The loop knows of nothing that is due before an instant, and wakes when there is something new. */
  sleepsUntil(untilMs: EpochMs): void {
    // What it has not looked after before is not made good by a sleep.
    if (this.#openGap(this.#clock.now()) === null) this.#seenUntilMs = untilMs
  }

  waitsForThread(): void {
    this.#isFull = true
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
    const open = this.#openGap(this.#clock.now())
    const gaps = open === null ? this.#gaps : [...this.#gaps, open]
    const gap = gaps.findLast(({ fromMs, toMs }) => plannedMs >= fromMs && plannedMs <= toMs)
    return gap?.cause ?? 'late'
  }

  #openGap(nowMs: EpochMs): Gap | null {
    const fromMs = this.#seenUntilMs
    if (this.#isFull) return nowMs > fromMs ? { cause: 'poolFull', fromMs, toMs: nowMs } : null
    return nowMs - fromMs > awayFromMs ? { cause: 'outage', fromMs, toMs: nowMs } : null
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
