import { CronExpressionError, InvalidArgumentError } from '../../core/errors.ts'
import { describeValue, refuseUnknownKeys } from '../../core/options.ts'
import type { ZoneOffsets } from '../../time/zone-offsets.ts'
import { type CronDialect, cronDialects } from './cron-dialect.ts'
import { type CronSchedule, compileSchedule } from './cron-schedule.ts'
import type { ParsedCron } from './cron-text.ts'
import { type CronDst, cronDsts } from './dst-policy.ts'
import { refuseImpossible } from './impossible.ts'
import { parseQuartzCron } from './quartz-fields.ts'
import { parseSpringCron } from './spring-fields.ts'
import { parseUnixFields, type UnixReader } from './unix-fields.ts'

/** Options of `CronExpression.parse`. */
export interface CronOptions {
  /** IANA name of the zone whose wall clock the fields mean. Default: the zone of this process. */
  readonly timeZone?: string | undefined
  /** What happens where the wall clock jumps. Default `vixie`; `quartz` is what Java Quartz does. */
  readonly dst?: CronDst | undefined
  /** How the text is read, see `CronDialect`. Default `quartz`. */
  readonly dialect?: CronDialect | undefined
  /** Whether the Unix dialect takes a leading field for seconds. Default `never`. */
  readonly seconds?: 'never' | 'optional' | undefined
}

/** Options of `parseUnixCron` and `CronScheduleBuilder.unixCron`. */
export type UnixCronOptions = Omit<CronOptions, 'dialect'>

/** With `expression`, so that the result of `toJSON` can be passed. */
const optionNames = ['timeZone', 'dst', 'dialect', 'seconds', 'expression']

/** What differs between the package and its browser entry: where zones come from, and what reads Unix fields. */
export interface CronEnvironment {
  zoneOf(name: string): ZoneOffsets
  systemZone(): ZoneOffsets
  readonly readUnixFields: UnixReader
}

/** An expression that has been read. */
export interface CronParts {
  /** The normalized text: upper case, single spaces. */
  readonly expression: string
  readonly dialect: CronDialect
  readonly schedule: CronSchedule
  readonly dst: CronDst
  readonly zone: ZoneOffsets
}

/** Reads an expression and its options; throws as `CronExpression.parse` says. */
export function readCron(environment: CronEnvironment, expression: string, options: CronOptions): CronParts {
  refuseUnknownKeys('CronExpression.parse', options, optionNames)
  const { dialect = 'quartz', dst = 'vixie', seconds = 'never' } = options
  requireOneOf('dst', cronDsts, dst)
  requireOneOf('seconds', ['never', 'optional'], seconds)
  requireOneOf('dialect', cronDialects, dialect)
  const parsed = parseDialect(environment, expression, dialect, seconds)
  const schedule = compileSchedule(parsed.fields)
  refuseImpossible(expression, parsed, schedule)
  const zone =
    options.timeZone === undefined ? environment.systemZone() : environment.zoneOf(options.timeZone)
  return { expression: parsed.text, dialect, schedule, dst, zone }
}

/** Whether {@link readCron} takes the text; false also for what is no text. */
export function isReadable(
  environment: CronEnvironment,
  expression: string,
  options: Pick<CronOptions, 'dialect' | 'seconds'>,
): boolean {
  refuseUnknownKeys('CronExpression.isValid', options, optionNames)
  try {
    readCron(environment, expression, { ...options, timeZone: 'UTC' })
    return true
  } catch (error) {
    if (error instanceof CronExpressionError || typeof expression !== 'string') return false
    throw error
  }
}

export function parseDialect(
  environment: CronEnvironment,
  expression: string,
  dialect: CronDialect,
  seconds: 'never' | 'optional',
): ParsedCron {
  switch (dialect) {
    case 'quartz':
      return parseQuartzCron(expression)
    case 'unix':
      return parseUnixFields(expression, seconds, environment.readUnixFields)
    case 'spring':
      return parseSpringCron(expression)
  }
}

/** Throws when an option is none of its values. */
export function requireOneOf(
  field: 'dialect' | 'dst' | 'seconds',
  known: readonly string[],
  found: unknown,
): void {
  if (known.some((name) => name === found)) return
  const names = known.map((name) => `'${name}'`)
  const last = names.pop() ?? ''
  throw new InvalidArgumentError(
    field,
    `${field} must be ${names.join(', ')} or ${last}, got ${describeValue(found)}.`,
    'ERR_INVALID_OPTION',
  )
}
