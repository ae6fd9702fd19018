import type { CronFields, CronValues } from './cron-fields.ts'

/** The values of a field, `*` for all of them, `?` for a day field that does not restrict. */
export type CronFieldSummary = '*' | '?' | readonly number[]

/** The values of an expression, field by field. Weekdays: 1=SUN .. 7=SAT. */
export interface CronSummary {
  readonly seconds: CronFieldSummary
  readonly minutes: CronFieldSummary
  readonly hours: CronFieldSummary
  /** Plain days; the other kinds follow. */
  readonly daysOfMonth: CronFieldSummary
  /** `L` is 0, `L-3` is 3. */
  readonly lastDayOffsets: readonly number[]
  /** `15W` is 15. */
  readonly nearestWeekdays: readonly number[]
  /** `LW` is 0, `L-3W` is 3. */
  readonly nearestWeekdayOffsets: readonly number[]
  readonly months: CronFieldSummary
  /** Plain weekdays; the other kinds follow. */
  readonly daysOfWeek: CronFieldSummary
  /** `6L` is 6: the last Friday of the month. */
  readonly lastDaysOfWeek: readonly number[]
  /** `6#3`: the third Friday of the month. */
  readonly nthDaysOfWeek: readonly { readonly day: number; readonly nth: number }[]
  readonly years: CronFieldSummary
  /** `or`: one matching day field is enough (Unix, where neither begins with `*`). `and`: both must match. */
  readonly dayFields: 'and' | 'or'
}

export function summarize(fields: CronFields): CronSummary {
  const { monthDays, weekDays, combine, unspecified } = fields.days
  return {
    seconds: shown(fields.seconds),
    minutes: shown(fields.minutes),
    hours: shown(fields.hours),
    daysOfMonth: unspecified === 'dayOfMonth' ? '?' : shown(monthDays?.days ?? null),
    lastDayOffsets: monthDays?.lastDayOffsets ?? [],
    nearestWeekdays: monthDays?.nearestWeekdays ?? [],
    nearestWeekdayOffsets: monthDays?.nearestWeekdayOffsets ?? [],
    months: shown(fields.months),
    daysOfWeek: unspecified === 'dayOfWeek' ? '?' : shown(weekDays?.days ?? null),
    lastDaysOfWeek: weekDays?.lastDays ?? [],
    nthDaysOfWeek: weekDays?.nthDays ?? [],
    years: shown(fields.years),
    dayFields: combine,
  }
}

function shown(values: CronValues): CronFieldSummary {
  return values ?? '*'
}
