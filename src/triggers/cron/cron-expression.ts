import { type ArgumentCheck, checkDate, checkThat } from '../../core/arguments.ts'
import { CronExpressionError, InvalidArgumentError } from '../../core/errors.ts'
import { describeValue, refuseUnknownKeys } from '../../core/options.ts'
import { secondMs } from '../../time/civil.ts'
import { TimeZone } from '../../time/zone.ts'
import { type CronDialect, cronDialects } from './cron-dialect.ts'
import { readWithCronParser } from './cron-parser-fields.ts'
import { type CronSchedule, compileSchedule } from './cron-schedule.ts'
import { type CronSummary, summarize } from './cron-summary.ts'
import type { ParsedCron } from './cron-text.ts'
import { describeCron } from './describe.ts'
import { type CronDst, type DstPolicy, dstPolicyOf } from './dst-policy.ts'
import { refuseImpossible } from './impossible.ts'
import { firstInvalidAfter } from './invalid-time.ts'
import { parseQuartzCron } from './quartz-fields.ts'
import { parseSpringCron } from './spring-fields.ts'
import { parseUnixFields } from './unix-fields.ts'

/** Options of {@link CronExpression.parse}. */
export interface CronOptions {
  /** IANA name of the zone whose wall clock the fields speak of. Default: the zone of this process. */
  readonly timeZone?: string | undefined
  /** What happens where the wall clock jumps. Default `vixie`; `quartz` is what Java Quartz does. */
  readonly dst?: CronDst | undefined
  /** Default `quartz`. */
  readonly dialect?: CronDialect | undefined
  /** Whether the Unix dialect takes a leading field for seconds. Default `never`. */
  readonly seconds?: 'never' | 'optional' | undefined
}

/** What {@link CronExpression.toJSON} gives; `CronExpression.parse(json.expression, json)` makes the same again. */
export interface CronExpressionJson {
  readonly expression: string
  readonly timeZone: string
  readonly dst: CronDst
  readonly dialect: CronDialect
  readonly seconds: 'never' | 'optional'
}

/** With `expression`, so that what `toJSON` gives can be passed. */
const optionNames = ['timeZone', 'dst', 'dialect', 'seconds', 'expression']

/**
 * A cron expression in a time zone: an immutable value that answers when the wall clock matches it. Instants are
 * `Date`s; the members that end in `Ms` take and give epoch milliseconds. Fires lie on whole seconds from 1970 to 2199.
 */
export class CronExpression {
  /** The text as it is kept: upper case, single spaces. */
  readonly expression: string
  readonly dialect: CronDialect
  readonly dst: CronDst
  readonly #zone: TimeZone
  readonly #schedule: CronSchedule
  readonly #policy: DstPolicy

  private constructor(
    parts: { expression: string; dialect: CronDialect; schedule: CronSchedule },
    dst: CronDst,
    zone: TimeZone,
  ) {
    this.expression = parts.expression
    this.dialect = parts.dialect
    this.dst = dst
    this.#zone = zone
    this.#schedule = parts.schedule
    this.#policy = dstPolicyOf(dst, parts.schedule)
  }

  /**
   * Reads an expression. Throws {@link CronExpressionError} with the field, the position and, where the intent is
   * plain, a suggestion; also for an expression that can never fire (`0 0 0 31 2 ?`). Throws `InvalidArgumentError`
   * for an unknown zone.
   */
  static parse(expression: string, options: CronOptions = {}): CronExpression {
    refuseUnknownKeys('CronExpression.parse', options, optionNames)
    const { dialect = 'quartz', dst = 'vixie' } = options
    requireDst(dst)
    requireSeconds(options.seconds)
    const parsed = parseDialect(expression, dialect, options)
    const schedule = compileSchedule(parsed.fields)
    refuseImpossible(expression, parsed, schedule)
    const zone = options.timeZone === undefined ? TimeZone.system() : TimeZone.of(options.timeZone)
    return new CronExpression({ expression: parsed.text, dialect, schedule }, dst, zone)
  }

  /** True when {@link CronExpression.parse} takes the text; false also for what is no text. */
  static isValid(expression: string, options: Pick<CronOptions, 'dialect' | 'seconds'> = {}): boolean {
    refuseUnknownKeys('CronExpression.isValid', options, optionNames)
    try {
      CronExpression.parse(expression, { ...options, timeZone: 'UTC' })
      return true
    } catch (error) {
      if (error instanceof CronExpressionError || typeof expression !== 'string') return false
      throw error
    }
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

  /** {@link CronExpression.getTimeAfter} in epoch milliseconds. */
  nextTimeMs(afterMs: number): number | null {
    const nextMs = this.#policy.nextMs(this.#schedule, this.#zone, afterMs)
    return nextMs === Number.POSITIVE_INFINITY ? null : nextMs
  }

  /** {@link CronExpression.getTimeBefore} in epoch milliseconds. */
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
    return new Date(firstInvalidAfter(this.#policy, this.#schedule, this.#zone, date.getTime()))
  }

  /** The schedule in English words, without zone and DST policy. */
  describe(): string {
    return describeCron(this.expression, this.dialect)
  }

  /** The values of each field. */
  summary(): CronSummary {
    return summarize(parseDialect(this.expression, this.dialect, { seconds: 'optional' }).fields)
  }

  /** The same expression in another zone. */
  withTimeZone(timeZone: string): CronExpression {
    return this.#copy(this.dst, TimeZone.of(timeZone))
  }

  /** The same expression under another DST policy. */
  withDst(dst: CronDst): CronExpression {
    requireDst(dst)
    return this.#copy(dst, this.#zone)
  }

  /** True for the same text, dialect, zone and DST policy. */
  equals(other: CronExpression): boolean {
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

  #copy(dst: CronDst, zone: TimeZone): CronExpression {
    const { expression, dialect } = this
    return new CronExpression({ expression, dialect, schedule: this.#schedule }, dst, zone)
  }
}

export const checkCronExpression: ArgumentCheck = checkThat(
  'a CronExpression',
  (value) => value instanceof CronExpression,
  "Make one with CronExpression.parse('0 0 12 * * ?').",
)

/** An expression in text or a parsed one, for what takes either. */
export const checkExpression: ArgumentCheck = checkThat(
  'a cron expression, as text or parsed',
  (value) => typeof value === 'string' || value instanceof CronExpression,
  "Pass text such as '0 0 12 * * ?'.",
)

function parseDialect(
  expression: string,
  dialect: CronDialect,
  options: Pick<CronOptions, 'seconds'>,
): ParsedCron {
  switch (dialect) {
    case 'quartz':
      return parseQuartzCron(expression)
    case 'unix':
      return parseUnixFields(expression, options.seconds ?? 'never', readWithCronParser)
    case 'spring':
      return parseSpringCron(expression)
    default:
      throw notOneOf('dialect', cronDialects, dialect)
  }
}

function notOneOf(field: string, known: readonly string[], found: unknown): InvalidArgumentError {
  const names = known.map((name) => `'${name}'`)
  const last = names.pop() ?? ''
  return new InvalidArgumentError(
    field,
    `${field} must be ${names.join(', ')} or ${last}, got ${describeValue(found)}.`,
    'ERR_INVALID_OPTION',
  )
}

function requireDst(dst: unknown): void {
  if (dst === 'vixie' || dst === 'quartz') return
  throw notOneOf('dst', ['vixie', 'quartz'], dst)
}

function requireSeconds(seconds: unknown): void {
  if (seconds === undefined || seconds === 'never' || seconds === 'optional') return
  throw notOneOf('seconds', ['never', 'optional'], seconds)
}

function toDate(epochMs: number | null): Date | null {
  return epochMs === null ? null : new Date(epochMs)
}
