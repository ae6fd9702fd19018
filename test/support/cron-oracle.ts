/*
 * What a cron expression must do, said in the slowest and plainest way: look at every second (or minute) of a stretch
 * of time, read the wall, and ask whether each field holds what the wall shows. Nothing here uses the code under test;
 * offsets come from Intl.
 */

export interface WallRow {
  readonly atMs: number
  /** What the wall shows, counted as if it were UTC. */
  readonly localMs: number
  readonly second: number
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly year: number
  /** 1=SUN .. 7=SAT. */
  readonly weekday: number
}

const quarterMs = 900_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** Local minus UTC, as Intl shows it. */
function intlOffsetMs(zoneName: string, atMs: number): number {
  let format = formats.get(zoneName)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zoneName,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zoneName, format)
  }
  const shown: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(atMs)) shown[type] = Number(value)
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
}

function wallRow(atMs: number, localMs: number): WallRow {
  const date = new Date(localMs)
  return {
    atMs,
    localMs,
    second: date.getUTCSeconds(),
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    year: date.getUTCFullYear(),
    weekday: date.getUTCDay() + 1,
  }
}

/** The wall of a zone at every step; the bounds are multiples of the step, which is a second or a minute. */
export function readWall(
  zoneName: string,
  fromMs: number,
  untilMs: number,
  stepMs: number,
): readonly WallRow[] {
  const rows: WallRow[] = []
  let quarter = Number.NaN
  let steady: number | null = null
  for (let atMs = fromMs; atMs < untilMs; atMs += stepMs) {
    if (Math.floor(atMs / quarterMs) !== quarter) {
      quarter = Math.floor(atMs / quarterMs)
      const first = intlOffsetMs(zoneName, quarter * quarterMs)
      steady = first === intlOffsetMs(zoneName, (quarter + 1) * quarterMs) ? first : null
    }
    rows.push(wallRow(atMs, atMs + (steady ?? intlOffsetMs(zoneName, atMs))))
  }
  return rows
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

function numberOf(text: string, names: readonly string[]): number {
  const index = names.indexOf(text.slice(0, 3))
  return index < 0 ? Number(text) : index + 1
}

/** All values of one item of a list, walking from value to value. */
function expandItem(item: string, min: number, max: number, names: readonly string[]): number[] {
  const [body = '', stepText] = item.split('/')
  const step = stepText === undefined ? 1 : Number(stepText)
  const [firstText = '', lastText] = body.split('-')
  let first = min
  let last = max
  if (body !== '*' && body !== '') {
    first = numberOf(firstText, names)
    last = lastText === undefined ? (stepText === undefined ? first : max) : numberOf(lastText, names)
  }
  const values: number[] = []
  let value = first
  let walked = 0
  for (;;) {
    if (walked % step === 0) values.push(value)
    if (value === last) return values
    value = value === max ? min : value + 1
    walked += 1
  }
}

function expand(field: string, min: number, max: number, names: readonly string[] = []): Set<number> {
  return new Set(field.split(',').flatMap((item) => expandItem(item, min, max, names)))
}

function lastDayOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1
}

/** The day from Monday to Friday of that month that is nearest to a day; null when the month has no such day. */
function nearestWorkday(year: number, month: number, day: number): number | null {
  const last = lastDayOf(year, month)
  if (day < 1 || day > last) return null
  let best: number | null = null
  for (let candidate = 1; candidate <= last; candidate++) {
    const weekday = weekdayOf(year, month, candidate)
    if (weekday === 1 || weekday === 7) continue
    if (best === null || Math.abs(candidate - day) < Math.abs(best - day)) best = candidate
  }
  return best
}

/** A Quartz expression, read naively; give it valid ones only. */
export class CronOracle {
  /** Second, minute and hour hold values and lists only. */
  readonly fixed: boolean
  readonly #seconds: Set<number>
  readonly #minutes: Set<number>
  readonly #hours: Set<number>
  readonly #months: Set<number>
  readonly #years: Set<number>
  readonly #monthDays: string
  readonly #weekDays: string
  readonly #dayCache = new Map<number, boolean>()

  constructor(expression: string) {
    const fields = expression.trim().toUpperCase().split(/\s+/)
    const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = '', year = '*'] =
      fields
    this.fixed = !/[*/-]/.test(second + minute + hour)
    this.#seconds = expand(second, 0, 59)
    this.#minutes = expand(minute, 0, 59)
    this.#hours = expand(hour, 0, 23)
    this.#months = expand(month, 1, 12, months)
    this.#years = expand(year, 1970, 2199)
    this.#monthDays = dayOfMonth
    this.#weekDays = dayOfWeek
  }

  /** Whether every field holds what the wall shows. */
  matches(row: WallRow): boolean {
    return (
      this.#seconds.has(row.second) &&
      this.#minutes.has(row.minute) &&
      this.#hours.has(row.hour) &&
      this.#dayMatches(row)
    )
  }

  /** Whether a date matches, whatever the time. */
  #dayMatches(row: WallRow): boolean {
    const key = (row.year * 12 + row.month) * 31 + row.day
    const known = this.#dayCache.get(key)
    if (known !== undefined) return known
    const found =
      this.#years.has(row.year) &&
      this.#months.has(row.month) &&
      (this.#monthDays === '?' ? this.#weekdayMatches(row) : this.#monthDayMatches(row))
    this.#dayCache.set(key, found)
    return found
  }

  #monthDayMatches({ year, month, day }: WallRow): boolean {
    const last = lastDayOf(year, month)
    return this.#monthDays.split(',').some((item) => {
      const lastDay = /^L(?:-(\d+))?(W?)$/.exec(item)
      const nearest = /^(\d+)W$/.exec(item)
      if (lastDay !== null) {
        const target = last - Number(lastDay[1] ?? 0)
        return target >= 1 && day === (lastDay[2] === 'W' ? nearestWorkday(year, month, target) : target)
      }
      if (nearest !== null) return day === nearestWorkday(year, month, Number(nearest[1]))
      return expandItem(item, 1, 31, []).includes(day)
    })
  }

  #weekdayMatches({ year, month, day, weekday }: WallRow): boolean {
    if (this.#weekDays === 'L') return weekday === 7
    const nth = /^([A-Z]+|\d)#(\d)$/.exec(this.#weekDays)
    if (nth !== null)
      return weekday === numberOf(nth[1] ?? '', weekdays) && Math.ceil(day / 7) === Number(nth[2])
    const last = /^([A-Z]{3,}|\d)L$/.exec(this.#weekDays)
    if (last !== null)
      return weekday === numberOf(last[1] ?? '', weekdays) && day + 7 > lastDayOf(year, month)
    return expand(this.#weekDays, 1, 7, weekdays).has(weekday)
  }

  /**
   * The fires under the vixie policy. The wall must begin long enough before the first fire of interest to show what
   * an overlap repeats.
   */
  vixieFires(wall: readonly WallRow[], stepMs: number): readonly number[] {
    if (!this.fixed) return wall.filter((row) => this.matches(row)).map((row) => row.atMs)
    const fires: number[] = []
    const shown = new Set<number>()
    wall.forEach((row, index) => {
      const before = wall[index - 1]?.localMs ?? row.localMs - stepMs
      let due = this.matches(row) && !shown.has(row.localMs)
      for (let missing = before + stepMs; missing < row.localMs; missing += stepMs) {
        if (this.matches(wallRow(row.atMs, missing))) due = true
      }
      if (due) fires.push(row.atMs)
      shown.add(row.localMs)
    })
    return fires
  }

  /**
   * The next fire under the quartz policy: the smallest matching local time after the local time of `after`, times
   * that are never shown left out; its latest instant. Null when the wall ends before it.
   */
  quartzNext(wall: QuartzWall, after: WallRow): number | null {
    for (const row of wall.byLocal) {
      if (row.localMs > after.localMs && this.matches(row)) return row.atMs
    }
    return null
  }

  /** All fires under the quartz policy: the latest instants of all matching local times. */
  quartzFires(wall: QuartzWall): readonly number[] {
    return wall.byLocal.filter((row) => this.matches(row)).map((row) => row.atMs)
  }
}

/** A wall in the order of local time, each with its latest instant only. */
export interface QuartzWall {
  readonly byLocal: readonly WallRow[]
}

export function quartzWall(wall: readonly WallRow[]): QuartzWall {
  const latest = new Map<number, WallRow>()
  for (const row of wall) latest.set(row.localMs, row)
  return { byLocal: [...latest.values()].sort((a, b) => a.localMs - b.localMs) }
}
