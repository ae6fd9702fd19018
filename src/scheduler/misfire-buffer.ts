import type { Misfire } from '../jobstore/misfires.ts'
import type { MissedFires } from '../jobstore/missed-fires.ts'
import type { EpochMs } from '../time/clock.ts'
import { intervalsBetween } from '../triggers/families/simple/simple-schedule.ts'
import { SimpleTrigger } from '../triggers/families/simple/simple-trigger.ts'
import { plannedTimes } from '../triggers/planned-times.ts'
import { plannedFireTimeMs } from '../triggers/trigger.ts'
import { ListBuffer, type RecordBuffer } from './record-buffers.ts'

/** Planned instants that did not become runs, as the scheduler learns of them. */
export interface MisfireNote
  extends Pick<Misfire, 'triggerKey' | 'jobKey' | 'cause' | 'policy' | 'noticedTimeMs'> {
  /** One instant, or those that are still to be counted. */
  readonly fires: EpochMs | MissedFires
}

/** How many fire times are followed for one batch; a cron expression takes some microseconds for each. */
const stepsPerBatch = 10_000

/** Misfires that wait to be written. They are counted when they are taken out, with a bounded number of steps. */
export class MisfireBuffer implements RecordBuffer<MisfireNote, Misfire> {
  readonly #node: string
  readonly #idPrefix: string
  readonly #most: number
  readonly #notes: ListBuffer<MisfireNote>
  #counted: readonly Misfire[] = []
  #noted = 0

  constructor(most: number, node: string, uniqueName: string) {
    this.#most = most
    this.#notes = new ListBuffer(most)
    this.#node = node
    this.#idPrefix = `${uniqueName.slice(0, 60)}-`
  }

  get size(): number {
    return this.#notes.size + this.#counted.length
  }
  get isLarge(): boolean {
    return this.#notes.isLarge
  }

  add(note: MisfireNote): number {
    return this.#notes.add(note)
  }

  take(): readonly Misfire[] {
    const misfires = [...this.#counted]
    this.#counted = []
    const notes = this.#notes.take()
    let steps = stepsPerBatch
    for (const [index, { fires, triggerKey, jobKey, cause, policy, noticedTimeMs }] of notes.entries()) {
      // What some do not need is left for others.
      const share = Math.ceil(steps / (notes.length - index))
      const range = typeof fires === 'number' ? oneAt(fires) : rangeOf(fires, share)
      steps -= range?.steps ?? 1
      if (range === null) continue
      const { fromMs, toMs, count } = range
      // Field by field: after an outage thousands are taken at once, and spreading takes ten times as long.
      misfires.push({
        id: this.#nextId(),
        triggerKey,
        jobKey,
        cause,
        policy,
        noticedTimeMs,
        fromMs,
        toMs,
        count,
        node: this.#node,
      })
    }
    return misfires
  }

  giveBack(taken: readonly Misfire[]): number {
    const all = [...taken, ...this.#counted]
    this.#counted = all.slice(Math.max(0, all.length - this.#most))
    return all.length - this.#counted.length
  }

  /** Ids sort in the order in which they are given. */
  #nextId(): string {
    this.#noted++
    return this.#idPrefix + this.#noted.toString(36).padStart(9, '0')
  }
}

interface Range extends Pick<Misfire, 'fromMs' | 'toMs' | 'count'> {
  readonly steps: number
}

function oneAt(timeMs: EpochMs): Range {
  return { fromMs: timeMs, toMs: timeMs, count: 1, steps: 0 }
}

/** The instants that were missed; null when there is none. A calendar that fails leaves them uncounted. */
function rangeOf(missed: MissedFires, stepsMax: number): Range | null {
  try {
    const range = calculated(missed) ?? followed(missed, stepsMax)
    return range.count === 0 ? null : range
  } catch {
    const fromMs = plannedFireTimeMs(missed.trigger) ?? missed.untilMs
    return { fromMs, toMs: missed.untilMs, count: null, steps: 1 }
  }
}

/** Of a fixed interval without a calendar, whatever their number; null for other schedules. */
function calculated({ trigger, calendar, keepsFirst, untilMs }: MissedFires): Range | null {
  if (!(trigger instanceof SimpleTrigger) || trigger.repeatIntervalMs < 1 || calendar !== null) return null
  const { nextFireTimeMs: nextMs, repeatIntervalMs } = trigger
  // A time that a misfire instruction set need not be one of the schedule.
  if (nextMs === null || (nextMs - trigger.startTimeMs) % repeatIntervalMs !== 0) return null
  const endMs = Math.min(untilMs, trigger.finalFireTimeMs() ?? untilMs)
  const later = intervalsBetween(trigger, nextMs, endMs)
  const fromMs = keepsFirst ? nextMs + repeatIntervalMs : (plannedFireTimeMs(trigger) ?? nextMs)
  const toMs = later === 0 ? fromMs : nextMs + later * repeatIntervalMs
  return { fromMs, toMs, count: later + (keepsFirst ? 0 : 1), steps: 0 }
}

function followed({ trigger, calendar, keepsFirst, untilMs }: MissedFires, stepsMax: number): Range {
  const nextMs = trigger.nextFireTimeMs ?? untilMs
  let fromMs: EpochMs | null = null
  let toMs = nextMs
  let count = 0
  let steps = 0
  for (const timeMs of plannedTimes(trigger, calendar, nextMs, untilMs)) {
    steps++
    if (timeMs === null) continue
    const isFirst = steps === 1
    if (isFirst && keepsFirst) continue
    // The next fire time may stand for an earlier instant.
    toMs = isFirst ? (plannedFireTimeMs(trigger) ?? timeMs) : timeMs
    fromMs ??= toMs
    count++
    if (steps > stepsMax + 1) return { fromMs, toMs: untilMs, count: null, steps }
  }
  return { fromMs: fromMs ?? nextMs, toMs, count, steps }
}
