import { invariant } from '../../core/errors.ts'
import { type CronFields, type CronValues, cronYearMax, cronYearMin } from './cron-fields.ts'
import { dayMasksOf } from './day-rule.ts'

/**
 * An expression in a form for searching: bit sets and tables only, so that looking for the next time allocates nothing.
 * A schedule has no zone; its times are wall times.
 */
export interface CronSchedule {
  /** Seconds 0-29 and 30-59, each from bit 0. */
  readonly secondsLow: number
  readonly secondsHigh: number
  /** Minutes 0-29 and 30-59, each from bit 0. */
  readonly minutesLow: number
  readonly minutesHigh: number
  /** Hours from bit 0. */
  readonly hours: number
  /** Months from bit 1. */
  readonly months: number
  /** Days of a month by its shape, see `maskIndex`. */
  readonly dayMasks: Int32Array
  /** One entry per year from {@link cronYearMin}, 1 when it is named; `null` for all. */
  readonly years: Uint8Array | null
  /** Seconds of the day of the first and the last fire of a day. */
  readonly firstSecondOfDay: number
  readonly lastSecondOfDay: number
  readonly fixedTimes: boolean
}

/** Values 0-29 go into the first word of a pair, 30-59 into the second: both fit a small integer. */
export const wordBits = 30

export function compileSchedule(fields: CronFields): CronSchedule {
  const [secondsLow, secondsHigh] = wordsOf(fields.seconds)
  const [minutesLow, minutesHigh] = wordsOf(fields.minutes)
  const hours = bitsOf(fields.hours, 0, 23)
  return {
    secondsLow,
    secondsHigh,
    minutesLow,
    minutesHigh,
    hours,
    months: bitsOf(fields.months, 1, 12),
    dayMasks: dayMasksOf(fields.days),
    years: yearsOf(fields.years),
    firstSecondOfDay: edge(fields.hours, 0) * 3600 + edge(fields.minutes, 0) * 60 + edge(fields.seconds, 0),
    lastSecondOfDay: edge(fields.hours, 23) * 3600 + edge(fields.minutes, 59) * 60 + edge(fields.seconds, 59),
    fixedTimes: fields.fixedTimes,
  }
}

/** The first value of a field when `whole` is the field's first, the last one when it is the field's last. */
function edge(values: CronValues, whole: number): number {
  const value = values === null ? whole : values.at(whole === 0 ? 0 : -1)
  invariant(value !== undefined, 'a cron field names at least one value')
  return value
}

function wordsOf(values: CronValues): readonly [number, number] {
  if (values === null) return [2 ** wordBits - 1, 2 ** wordBits - 1]
  let low = 0
  let high = 0
  for (const value of values) {
    if (value < wordBits) low |= 1 << value
    else high |= 1 << (value - wordBits)
  }
  return [low, high]
}

function bitsOf(values: CronValues, min: number, max: number): number {
  let bits = 0
  if (values === null) for (let value = min; value <= max; value++) bits |= 1 << value
  else for (const value of values) bits |= 1 << value
  return bits
}

function yearsOf(values: CronValues): Uint8Array | null {
  if (values === null) return null
  const years = new Uint8Array(cronYearMax - cronYearMin + 1)
  for (const year of values) years[year - cronYearMin] = 1
  return years
}
