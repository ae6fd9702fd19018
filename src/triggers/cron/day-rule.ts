/**
 * Which days of a month an expression names. Everything in it depends only on how long the month is and on which
 * weekday it begins, so a rule becomes a table of 28 bit masks (bit 0 is the 1st), and the search uses the table only.
 */
export interface DayRule {
  /** `null` when the day-of-month field is `?` or `*`: it allows every day. */
  readonly monthDays: MonthDays | null
  /** `null` when the day-of-week field is `?` or `*`. */
  readonly weekDays: WeekDays | null
  /** How two restricting fields combine. Quartz restricts by one only; Spring has `and`, Unix cron both rules. */
  readonly combine: 'and' | 'or'
  /** The field that is `?`, of two the day of the week; null when there is none, as in every Unix expression. */
  readonly unspecified: 'dayOfMonth' | 'dayOfWeek' | null
}

export interface MonthDays {
  /** Plain days, 1-31. */
  readonly days: readonly number[]
  /** `L` is 0, `L-3` is 3. */
  readonly lastDayOffsets: readonly number[]
  /** `15W`: the weekday (Monday to Friday) nearest to the day, in the same month. */
  readonly nearestWeekdays: readonly number[]
  /** `LW` is 0, `L-3W` is 3: the weekday nearest to that day. */
  readonly nearestWeekdayOffsets: readonly number[]
}

export interface WeekDays {
  /** 1=SUN .. 7=SAT, every week. */
  readonly days: readonly number[]
  /** `6L`: the last such day of the month. */
  readonly lastDays: readonly number[]
  /** `6#3`: the third such day of the month. */
  readonly nthDays: readonly NthWeekday[]
}

export interface NthWeekday {
  readonly day: number
  /** 1-5; a month without a fifth such day has none. */
  readonly nth: number
}

const shortestMonth = 28
const monthLengthsCount = 4
const saturday = 7
const sunday = 1

/** The table of a rule that allows every day; shared, because most expressions have it. */
const everyDayMasks: Int32Array = buildMasks((length) => fullMask(length))

/** Position of a month in a table of masks: `firstWeekday` is 0=SUN .. 6=SAT. */
export function maskIndex(length: number, firstWeekday: number): number {
  return (length - shortestMonth) * 7 + firstWeekday
}

/** The masks of every kind of month, see {@link maskIndex}. */
export function dayMasksOf(rule: DayRule): Int32Array {
  const { monthDays, weekDays } = rule
  if (monthDays === null && weekDays === null) return everyDayMasks
  return buildMasks((length, firstWeekday) => {
    if (monthDays === null) return weekDays === null ? 0 : weekDaysMask(weekDays, length, firstWeekday)
    const byMonth = monthDaysMask(monthDays, length, firstWeekday)
    if (weekDays === null) return byMonth
    const byWeek = weekDaysMask(weekDays, length, firstWeekday)
    return rule.combine === 'or' ? byMonth | byWeek : byMonth & byWeek
  })
}

function buildMasks(maskOf: (length: number, firstWeekday: number) => number): Int32Array {
  const masks = new Int32Array(monthLengthsCount * 7)
  for (let length = shortestMonth; length < shortestMonth + monthLengthsCount; length++) {
    for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
      masks[maskIndex(length, firstWeekday)] = maskOf(length, firstWeekday)
    }
  }
  return masks
}

function fullMask(length: number): number {
  return 2 ** length - 1
}

function dayBit(day: number): number {
  return 1 << (day - 1)
}

function monthDaysMask(rule: MonthDays, length: number, firstWeekday: number): number {
  let mask = 0
  for (const day of rule.days) mask |= dayBit(day)
  for (const offset of rule.lastDayOffsets) if (offset < length) mask |= dayBit(length - offset)
  for (const day of rule.nearestWeekdays) {
    if (day <= length) mask |= dayBit(nearestWeekday(day, length, firstWeekday))
  }
  for (const offset of rule.nearestWeekdayOffsets) {
    if (offset < length) mask |= dayBit(nearestWeekday(length - offset, length, firstWeekday))
  }
  return mask & fullMask(length)
}

/** Monday to Friday stay; Saturday goes back a day and Sunday on, but never out of the month. */
function nearestWeekday(day: number, length: number, firstWeekday: number): number {
  const weekday = ((firstWeekday + day - 1) % 7) + 1
  if (weekday === saturday) return day === 1 ? 3 : day - 1
  if (weekday === sunday) return day === length ? day - 2 : day + 1
  return day
}

function weekDaysMask(rule: WeekDays, length: number, firstWeekday: number): number {
  let mask = 0
  for (const weekday of rule.days) {
    for (let day = firstOf(weekday, firstWeekday); day <= length; day += 7) mask |= dayBit(day)
  }
  for (const weekday of rule.lastDays) {
    const first = firstOf(weekday, firstWeekday)
    mask |= dayBit(first + 7 * Math.floor((length - first) / 7))
  }
  for (const { day: weekday, nth } of rule.nthDays) {
    const day = firstOf(weekday, firstWeekday) + 7 * (nth - 1)
    if (day <= length) mask |= dayBit(day)
  }
  return mask
}

/** Day of the month of the first such weekday, 1-7. */
function firstOf(weekday: number, firstWeekday: number): number {
  return ((weekday - 1 - firstWeekday + 7) % 7) + 1
}
