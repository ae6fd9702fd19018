import {
  type ArgumentCheck,
  checkDate,
  checkThat,
  checkWhole,
  hasMethods,
  refuseNew,
} from '../../core/arguments.ts'
import { isObject } from '../../core/options.ts'
import { secondMs } from '../../time/civil.ts'
import type { ZoneOffsets } from '../../time/zone-offsets.ts'
import type { CronDialect } from './cron-dialect.ts'
import { type CronEnvironment, type CronParts, parseDialect, requireOneOf } from './cron-reader.ts'
import type { CronSchedule } from './cron-schedule.ts'
import { type CronSummary, summarize } from './cron-summary.ts'
import { describeCron } from './describe.ts'
import { type CronDst, cronDsts, type DstPolicy, dstPolicyOf } from './dst-policy.ts'
import { firstInvalidAfter } from './invalid-time.ts'

/** What `toJSON` gives; `CronExpression.parse(json.expression, json)` makes the same again. */
export interface CronExpressionJson {
  readonly expression: string
  readonly timeZone: string
  readonly dst: CronDst
  readonly dialect: CronDialect
  readonly seconds: 'never' | 'optional'
}

/** The class of an expression: its surroundings, and how another expression of the same class is made. */
export interface CronClass extends CronEnvironment {
  make(parts: CronParts): CronTimes
}

/** The most times that are answered at once. */
const timesMax = 100_000

/**
 * When a cron expression fires in its zone: what the `CronExpression` of `quartz-ts` and that of `quartz-ts/cron` have
 * in common. Instants are `Date`s; the members that end in `Ms` take and give epoch milliseconds. Fires lie on whole
 * seconds from 1970 to 2199.
 */
export abstract class CronTimes {
  /** The normalized text: upper case, single spaces. */
  readonly expression: string
  readonly dialect: CronDialect
  readonly dst: CronDst
  readonly #class: CronClass
  readonly #zone: ZoneOffsets
  readonly #schedule: CronSchedule

  /** @internal */
  protected constructor(ownClass: CronClass, parts: CronParts) {
    if (!isObject(parts)) refuseNew('CronExpression', 'parts', parts, 'CronExpression.parse(text)')
    const { expression, dialect, schedule, dst, zone } = parts
    this.#class = ownClass
    this.expression = expression
    this.dialect = dialect
    this.dst = dst
    this.#zone = zone
    this.#schedule = schedule
  }

  /** IANA name of the zone. */
  get timeZone(): string {
    return this.#zone.name
  }

  /** The first fire after an instant, or null when there is none. */
  getTimeAfter(date: Date): Date | null {
    checkDate('getTimeAfter', 'date', date)
    return toDate(this.nextTimeMs(date.getTime()))
  }

  /** The last fire before an instant, or null when there is none. */
  getTimeBefore(date: Date): Date | null {
    checkDate('getTimeBefore', 'date', date)
    return toDate(this.previousTimeMs(date.getTime()))
  }

  /**
   * The next `count` fires after an instant, the earliest first; fewer where the expression ends before. From 1 to
   * 100,000.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT
   */
  getTimesAfter(date: Date, count: number): Date[] {
    checkDate('getTimesAfter', 'date', date)
    checkWhole(1, timesMax)('getTimesAfter', 'count', count)
    return timesFrom(date.getTime(), count, (fromMs) => this.nextTimeMs(fromMs))
  }

  /**
   * The last `count` fires before an instant, the latest first; fewer where the expression begins after. From 1 to
   * 100,000.
   *
   * @throws InvalidArgumentError ERR_INVALID_ARGUMENT
   */
  getTimesBefore(date: Date, count: number): Date[] {
    checkDate('getTimesBefore', 'date', date)
    checkWhole(1, timesMax)('getTimesBefore', 'count', count)
    return timesFrom(date.getTime(), count, (fromMs) => this.previousTimeMs(fromMs))
  }

  /** {@link CronTimes.getTimeAfter} in epoch milliseconds. */
  nextTimeMs(afterMs: number): number | null {
    const nextMs = this.#policy.nextMs(this.#schedule, this.#zone, afterMs)
    return nextMs === Number.POSITIVE_INFINITY ? null : nextMs
  }

  /** {@link CronTimes.getTimeBefore} in epoch milliseconds. */
  previousTimeMs(beforeMs: number): number | null {
    const previousMs = this.#policy.previousMs(this.#schedule, this.#zone, beforeMs)
    return previousMs === Number.NEGATIVE_INFINITY ? null : previousMs
  }

  /**
   * Whether the expression fires in the second that an instant lies in. Under `quartz` this is Java's answer, for which
   * the two passes of an overlap are one: whether the later instant that shows the same local time is a fire.
   */
  isSatisfiedBy(date: Date): boolean {
    checkDate('isSatisfiedBy', 'date', date)
    const secondStartMs = Math.floor(date.getTime() / secondMs) * secondMs
    if (this.dst === 'vixie') return this.nextTimeMs(secondStartMs - 1) === secondStartMs
    const shownLastMs = this.#zone.lastInstantOf(this.#zone.toLocalMs(secondStartMs))
    return this.previousTimeMs(shownLastMs + 1) === shownLastMs
  }

  /** The first second after an instant in which the expression does not fire. */
  getNextInvalidTimeAfter(date: Date): Date {
    checkDate('getNextInvalidTimeAfter', 'date', date)
    return new Date(this.invalidMsAfter(date.getTime(), Number.POSITIVE_INFINITY))
  }

  /**
   * As `getNextInvalidTimeAfter`, but any time past `untilMs` when there is none up to it.
   *
   * @internal
   */
  invalidMsAfter(afterMs: number, untilMs: number): number {
    return firstInvalidAfter(this.#policy, this.#schedule, this.#zone, afterMs, untilMs)
  }

  /** The schedule in English words, without zone and DST policy. */
  describe(): string {
    return describeCron(this.expression, this.dialect)
  }

  /** The values of each field. */
  summary(): CronSummary {
    return summarize(parseDialect(this.#class, this.expression, this.dialect, 'optional').fields)
  }

  /** The same expression in another zone. */
  withTimeZone(timeZone: string): this {
    return this.#copy(this.dst, this.#class.zoneOf(timeZone))
  }

  /** The same expression under another DST policy. */
  withDst(dst: CronDst): this {
    requireOneOf('dst', cronDsts, dst)
    return this.#copy(dst, this.#zone)
  }

  /** True for the same text, dialect, zone and DST policy. */
  equals(other: CronTimes): boolean {
    checkCronExpression('CronExpression.equals', 'other', other)
    return (
      this.expression === other.expression &&
      this.dialect === other.dialect &&
      this.timeZone === other.timeZone &&
      this.dst === other.dst
    )
  }

  toString(): string {
    return this.expression
  }

  toJSON(): CronExpressionJson {
    const { expression, timeZone, dst, dialect } = this
    const seconds = dialect === 'unix' && expression.split(' ').length === 6 ? 'optional' : 'never'
    return { expression, timeZone, dst, dialect, seconds }
  }

  #copy(dst: CronDst, zone: ZoneOffsets): this {
    const { expression, dialect } = this
    return this.#class.make({ expression, dialect, schedule: this.#schedule, dst, zone }) as this
  }

  get #policy(): DstPolicy {
    return dstPolicyOf(this.dst, this.#schedule)
  }
}

/** By public members, so that an expression of a second copy of the package will do, whatever its version. */
export function isCronTimes(value: unknown): value is CronTimes {
  return hasMethods(value, ['getTimeAfter', 'getTimeBefore', 'isSatisfiedBy', 'toJSON'])
}

const checkCronExpression: ArgumentCheck = checkThat(
  'a CronExpression',
  isCronTimes,
  'Make one with CronExpression.parse(text).',
)

function toDate(epochMs: number | null): Date | null {
  return epochMs === null ? null : new Date(epochMs)
}

function timesFrom(fromMs: number, count: number, step: (fromMs: number) => number | null): Date[] {
  const times: Date[] = []
  let atMs = step(fromMs)
  while (atMs !== null) {
    times.push(new Date(atMs))
    atMs = times.length < count ? step(atMs) : null
  }
  return times
}
