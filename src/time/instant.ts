import { daysInMonth } from './civil.ts'

/** A luxon `DateTime`, or anything else that knows its epoch milliseconds. */
export interface DateTimeLike {
  toMillis(): number
}

/**
 * An instant: a `Date`, epoch milliseconds, ISO 8601 text with its offset (`2026-03-29T07:00:00+02:00`, `...Z`), or a
 * luxon `DateTime`.
 */
export type InstantLike = Date | number | string | DateTimeLike

/** A text without an offset would depend on the zone of the machine. */
const isoInstant = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/

/** Epoch milliseconds of an instant; NaN for what is none. */
export function instantMsOf(instant: unknown): number {
  if (instant instanceof Date) return instant.getTime()
  if (typeof instant === 'number') return Number.isFinite(instant) ? Math.round(instant) : Number.NaN
  if (typeof instant === 'string') return parsedInstant(instant)
  return isDateTimeLike(instant) ? instant.toMillis() : Number.NaN
}

function parsedInstant(text: string): number {
  const [, year, month, day] = isoInstant.exec(text) ?? []
  // Date takes 30 February for 2 March.
  const exists = Number(day) <= daysInMonth(Number(year), Number(month))
  return exists ? Date.parse(text) : Number.NaN
}

function isDateTimeLike(value: unknown): value is DateTimeLike {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'toMillis') === 'function'
}
