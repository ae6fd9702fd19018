import { dayMs, minuteMs, secondMs } from './civil.ts'

/**
 * A stretch of time in which a zone keeps one offset. Segments are cut at the edges of the chunk that they were
 * computed for; a cut is never nearer than {@link chunkMarginMs} to an instant that the chunk answers for, so that a
 * reader sees every transition that can matter to the wall time of that instant.
 */
export interface ZoneSegment {
  /** First instant of the segment. */
  readonly fromMs: number
  /** First instant after the segment. */
  readonly untilMs: number
  /** Local minus UTC. */
  readonly offsetMs: number
  /** From here to `untilMs` the wall shows times that come again (first pass of an overlap); else `untilMs`. */
  readonly repeatFromMs: number
  /** From `fromMs` to here the wall shows times that it has shown before (second pass of an overlap); else `fromMs`. */
  readonly repeatUntilMs: number
}

/** Where a zone's offsets come from: one of luxon's zones, or Intl. */
export interface OffsetSource {
  /** Local minus UTC at an instant, in minutes. */
  offset(epochMs: number): number
}

/** Length of the chunk of time whose transitions are computed together, when one of them is first needed. */
export const chunkMs: number = 400 * dayMs

/** No two offsets differ by more than 26 hours, so this much shows every neighbour of a wall time. */
const chunkMarginMs = 3 * dayMs

/** Zones change twice within a week now and then (Asia/Gaza in 2040); three days leave room. */
const sampleStepMs = 3 * dayMs

/** The earliest and latest instants whose wall times a Date can hold in every zone. */
const dateLimitMs = 8.64e15 - 2 * dayMs

/** Offset in milliseconds; some historical offsets are not whole minutes. */
function readOffsetMs(zone: OffsetSource, epochMs: number): number {
  return Math.round(zone.offset(Math.min(Math.max(epochMs, -dateLimitMs), dateLimitMs)) * minuteMs)
}

/** The segments of one chunk with its margins, in order, without holes. */
export function readSegments(zone: OffsetSource, chunkIndex: number): readonly ZoneSegment[] {
  const startMs = chunkIndex * chunkMs - chunkMarginMs
  const endMs = (chunkIndex + 1) * chunkMs + chunkMarginMs
  const starts = [startMs]
  const offsets = [readOffsetMs(zone, startMs)]
  let atMs = startMs
  let offsetMs = offsets[0] ?? 0
  while (atMs < endMs) {
    const sampleMs = Math.min(atMs + sampleStepMs, endMs)
    while (readOffsetMs(zone, sampleMs) !== offsetMs) {
      atMs = bisect(zone, atMs, sampleMs, offsetMs)
      offsetMs = readOffsetMs(zone, atMs)
      starts.push(atMs)
      offsets.push(offsetMs)
    }
    atMs = sampleMs
  }
  return starts.map((fromMs, index) => {
    const ownMs = offsets[index] ?? 0
    const untilMs = starts[index + 1] ?? endMs
    const fallBeforeMs = Math.max((offsets[index - 1] ?? ownMs) - ownMs, 0)
    const fallAfterMs = Math.max(ownMs - (offsets[index + 1] ?? ownMs), 0)
    return {
      fromMs,
      untilMs,
      offsetMs: ownMs,
      repeatFromMs: untilMs - fallAfterMs,
      repeatUntilMs: fromMs + fallBeforeMs,
    }
  })
}

/** The first whole second after `beforeMs` at which the offset is no longer `offsetMs`; `afterMs` already differs. */
function bisect(zone: OffsetSource, beforeMs: number, afterMs: number, offsetMs: number): number {
  let low = Math.floor(beforeMs / secondMs)
  let high = Math.floor(afterMs / secondMs)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (readOffsetMs(zone, middle * secondMs) === offsetMs) low = middle
    else high = middle
  }
  return high * secondMs
}
