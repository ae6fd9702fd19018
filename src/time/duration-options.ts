import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { durationMsOf } from './duration.ts'

/** A number of units (milliseconds, where nothing else is said), `5s`, `1m30s`, or ISO 8601's `PT5S`. */
export type DurationLike = number | string

export const timeUnits = ['milliseconds', 'seconds', 'minutes', 'hours', 'days'] as const

/** What a duration that is a plain number counts. */
export type TimeUnit = (typeof timeUnits)[number]

const unitMs: Readonly<Record<TimeUnit, number>> = {
  milliseconds: 1,
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
}

/** The longest duration: a million days, so that instants stay within what a Date holds. */
export const durationMaxMs: number = 1_000_000 * unitMs.days

interface DurationLimits {
  readonly minMs: number
  /** Of a number. */
  readonly unit?: TimeUnit
  /** Whether a text without a unit is refused: `'10'`, as from a variable, may be meant as ten seconds. */
  readonly needsUnit?: boolean
}

/**
 * Whole milliseconds of a duration.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for what is no duration, below `minMs` or above a million days
 */
export function requireDurationMs(
  owner: string,
  field: string,
  duration: unknown,
  { minMs, unit = 'milliseconds', needsUnit = false }: DurationLimits,
): number {
  if (needsUnit && isPlainNumber(duration)) {
    throw new InvalidArgumentError(
      field,
      `${owner}: '${field}' is '${duration}' without a unit: pass the number ${duration} for ${unit}, or a text such ` +
        `as '${duration}s' (units: ms, s, m, h, d).`,
      'ERR_INVALID_OPTION',
    )
  }
  const ms = millisecondsOf(duration, unit)
  if (ms !== null && ms >= minMs && ms <= durationMaxMs) return Math.round(ms)
  const least = minMs === 0 ? 'not negative' : `at least ${minMs} ms`
  throw new InvalidArgumentError(
    field,
    `${owner}: '${field}' must be a duration, ${least} and at most a million days: a number of ${unit}, '5s' or ` +
      `'PT5S' (units: ms, s, m, h, d); got ${describeValue(duration)}.`,
    'ERR_INVALID_OPTION',
  )
}

function millisecondsOf(duration: unknown, unit: TimeUnit): number | null {
  if (typeof duration === 'number') return Number.isFinite(duration) ? duration * unitMs[unit] : null
  if (typeof duration !== 'string') return null
  // A placeholder may stand for a plain number.
  return isPlainNumber(duration) ? Number(duration) * unitMs[unit] : durationMsOf(duration)
}

/** Whether it is a text of digits alone. */
function isPlainNumber(duration: unknown): duration is string {
  return typeof duration === 'string' && /^\d+(\.\d+)?$/.test(duration)
}
