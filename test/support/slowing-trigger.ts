import {
  type Calendar,
  type EpochMs,
  type ScheduleBuilder,
  type SimpleMisfireInstruction,
  Trigger,
  type TriggerFields,
} from 'quartz-ts'
import type { TriggerFamily } from 'quartz-ts/spi'
import type { ConformanceTriggers } from 'quartz-ts/testing'

/** What a slowing trigger has beyond the fields of every trigger. */
export interface SlowingFields {
  /** Milliseconds from the first fire to the second. */
  readonly firstGapMs: number
  /** How much longer each gap is than the one before it. Milliseconds, 0 or more. */
  readonly growthMs: number
  /** Fires after the first one, or -1 for ever. */
  readonly repeatCount: number
  readonly misfireInstruction: SimpleMisfireInstruction
}

/**
 * A family that exists in tests only, made of what the package exports: it fires at its start and then at gaps that
 * grow by the same amount each time. Without growth it fires as a simple trigger does.
 */
export class SlowingTrigger extends Trigger implements SlowingFields {
  readonly firstGapMs: number
  readonly growthMs: number
  readonly repeatCount: number
  override readonly misfireInstruction: SimpleMisfireInstruction

  constructor(
    fields: TriggerFields,
    schedule: SlowingFields,
    nextFireTimeMs: EpochMs | null = null,
    previousFireTimeMs: EpochMs | null = null,
    timesTriggered = 0,
    misfiredFireTimeMs: EpochMs | null = null,
  ) {
    super(fields, nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs)
    this.firstGapMs = schedule.firstGapMs
    this.growthMs = schedule.growthMs
    this.repeatCount = schedule.repeatCount
    this.misfireInstruction = schedule.misfireInstruction
  }

  override get type(): 'slowing' {
    return 'slowing'
  }

  override fireTimeAfterMs(afterMs: EpochMs, timesTriggered: number = this.timesTriggered): EpochMs | null {
    if (this.repeatCount >= 0 && timesTriggered > this.repeatCount) return null
    if (afterMs < this.startTimeMs) return this.#unlessEnded(this.startTimeMs)
    if (this.repeatCount === 0) return null
    const fire = this.#firesUntil(afterMs)
    return this.repeatCount >= 0 && fire > this.repeatCount ? null : this.#unlessEnded(this.#timeOf(fire))
  }

  override finalFireTimeMs(): EpochMs | null {
    if (this.endTimeMs !== null) {
      const beforeEnd = this.#firesUntil(this.endTimeMs - 1) - 1
      return this.#timeOf(this.repeatCount < 0 ? beforeEnd : Math.min(this.repeatCount, beforeEnd))
    }
    return this.repeatCount < 0 ? null : this.#timeOf(this.repeatCount)
  }

  override firstFireTimeMs(): EpochMs {
    return this.startTimeMs
  }

  override updateAfterMisfire(calendar: Calendar | null, nowMs: EpochMs): this {
    switch (this.misfireInstruction) {
      case 'ignore':
        return this
      case 'rescheduleNextWithExistingCount':
        return this.goingOnAfter(calendar, nowMs)
      case 'rescheduleNextWithRemainingCount':
        return this.#goingOnCounting(calendar, nowMs)
      default:
        if (this.repeatCount < 0) return this.#goingOnCounting(calendar, nowMs)
        if (this.endTimeMs !== null && this.endTimeMs <= nowMs) return this.finished()
        return this.repeatCount === 0 ? this.firingLateAt(nowMs) : this.#restartedAt(nowMs)
    }
  }

  override getScheduleBuilder(): ScheduleBuilder<SlowingTrigger> {
    return slowingSchedule(this)
  }

  protected override remade(
    fields: TriggerFields,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ): this {
    return new SlowingTrigger(
      fields,
      this,
      nextFireTimeMs,
      previousFireTimeMs,
      timesTriggered,
      misfiredFireTimeMs,
    ) as this
  }

  /** The time of a fire, by its number from 0. */
  #timeOf(fire: number): EpochMs {
    return this.startTimeMs + fire * this.firstGapMs + (this.growthMs * fire * (fire - 1)) / 2
  }

  /** How many fires lie at or before an instant. */
  #firesUntil(ms: EpochMs): number {
    if (ms < this.startTimeMs) return 0
    if (this.growthMs === 0) return Math.floor((ms - this.startTimeMs) / this.firstGapMs) + 1
    let fires = 1
    while (this.#timeOf(fires) <= ms) fires++
    return fires
  }

  #unlessEnded(ms: EpochMs): EpochMs | null {
    return this.endTimeMs !== null && ms >= this.endTimeMs ? null : ms
  }

  #goingOnCounting(calendar: Calendar | null, nowMs: EpochMs): this {
    const next = this.goingOnAfter(calendar, nowMs)
    if (next.nextFireTimeMs === null || this.nextFireTimeMs === null) return next
    const missed = this.#firesUntil(next.nextFireTimeMs - 1) - this.#firesUntil(this.nextFireTimeMs - 1)
    const { nextFireTimeMs, previousFireTimeMs } = next
    return this.remade(this, nextFireTimeMs, previousFireTimeMs, this.timesTriggered + missed, null)
  }

  /** The schedule begun anew with what is left of it: the one misfire that changes more than the fire state. */
  #restartedAt(nowMs: EpochMs): this {
    const { firstGapMs, growthMs, misfireInstruction } = this
    const { nextFireTimeMs, previousFireTimeMs, misfiredFireTimeMs } = this.firingLateAt(nowMs)
    return new SlowingTrigger(
      this.fieldsWith({ startTimeMs: nowMs }),
      { firstGapMs, growthMs, misfireInstruction, repeatCount: this.repeatCount - this.timesTriggered },
      nextFireTimeMs,
      previousFireTimeMs,
      0,
      misfiredFireTimeMs,
    ) as this
  }
}

export function slowingSchedule(schedule: SlowingFields): ScheduleBuilder<SlowingTrigger> {
  return {
    build: (fields) => {
      const trigger = new SlowingTrigger(fields, schedule)
      trigger.validate()
      return trigger
    },
  }
}

export const slowingFamily: TriggerFamily<SlowingTrigger> = {
  type: 'slowing',
  storedType: 'SLOWING',
  misfireInstructions: [
    'smart',
    'ignore',
    'rescheduleNextWithExistingCount',
    'rescheduleNextWithRemainingCount',
  ],
  table: 'simprop_triggers',
  columns: { long_prop_1: 'firstGap', long_prop_2: 'growth', int_prop_1: 'repeatCount' },

  toJSON: ({ firstGapMs, growthMs, repeatCount }) => ({ firstGapMs, growthMs, repeatCount }),

  fromJSON: (fields, json, misfireInstruction) =>
    new SlowingTrigger(fields, {
      firstGapMs: Number(json['firstGapMs']),
      growthMs: Number(json['growthMs']),
      repeatCount: Number(json['repeatCount']),
      misfireInstruction,
    }),

  toColumns: ({ firstGapMs, growthMs, repeatCount }) => ({
    long_prop_1: firstGapMs,
    long_prop_2: growthMs,
    int_prop_1: repeatCount,
  }),

  fromColumns: (fields, row, misfireInstruction) => {
    const growthMs = row.integer('long_prop_2')
    if (growthMs < 0) throw row.broken('long_prop_2', 'is less than 0')
    return new SlowingTrigger(fields, {
      firstGapMs: row.integer('long_prop_1'),
      growthMs,
      repeatCount: row.integer('int_prop_1'),
      misfireInstruction,
    })
  },
}

/** For the conformance suite: slowing triggers that do not slow down, in place of simple ones. */
export const slowingTriggers: ConformanceTriggers = {
  family: slowingFamily,
  schedule: ({ repeatIntervalMs, repeatCount, misfireInstruction }) =>
    slowingSchedule({ firstGapMs: repeatIntervalMs, growthMs: 0, repeatCount, misfireInstruction }),
}
