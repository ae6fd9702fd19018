import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, refuseUnknownKeys } from '../core/options.ts'
import { type DurationLike, type TimeUnit, timeUnits } from '../time/duration-options.ts'
import { type CronDst, cronDsts } from '../triggers/cron/dst-policy.ts'
import {
  type CalendarMisfireInstruction,
  calendarMisfireInstructions,
} from '../triggers/misfire-instruction.ts'

export interface EveryScheduled {
  /**
   * The name of the task in logs, handles and a cluster's jobs; unique within a cluster. Default: the names of class
   * and method, so give one where a minifier renames classes.
   */
  readonly name?: string
}

/** Runs when a cron expression matches. */
export interface CronScheduled extends EveryScheduled {
  /** Spring's dialect: six fields or a macro such as `@daily`; `-` means never. May hold placeholders. */
  readonly cron: string
  /** IANA name of the zone. May hold placeholders. Default: the zone of this process. */
  readonly zone?: string
  /** What happens where the wall clock jumps. Default `vixie`. */
  readonly dst?: CronDst
  /** In a cluster only: what to do when no node ran it in time. Default `smart`, which runs it once, now. */
  readonly misfireInstruction?: CalendarMisfireInstruction
  readonly fixedRate?: never
  readonly fixedDelay?: never
  readonly initialDelay?: never
  readonly timeUnit?: never
}

export interface PeriodicScheduled extends EveryScheduled {
  /** How long to wait before the first run. Default 0. */
  readonly initialDelay?: DurationLike
  /** The unit of durations that are plain numbers. Default `milliseconds`. */
  readonly timeUnit?: TimeUnit
  readonly cron?: never
  readonly zone?: never
  readonly dst?: never
  readonly misfireInstruction?: never
}

/** Runs at a fixed rate: a late run does not move those that follow. */
export interface FixedRateScheduled extends PeriodicScheduled {
  /** From one planned run to the next, at least 1 ms; `-` means never. May hold placeholders. */
  readonly fixedRate: DurationLike
  readonly fixedDelay?: never
}

/** Runs again a fixed time after each run has ended. */
export interface FixedDelayScheduled extends PeriodicScheduled {
  /** From the end of a run to the next one, at least 1 ms; `-` means never. May hold placeholders. */
  readonly fixedDelay: DurationLike
  readonly fixedRate?: never
}

/** When a method runs: exactly one of `cron`, `fixedRate` and `fixedDelay`, with the options of that kind. */
export type ScheduledOptions = CronScheduled | FixedRateScheduled | FixedDelayScheduled

const schedules = ['cron', 'fixedRate', 'fixedDelay'] as const
const cronOnly = ['zone', 'dst', 'misfireInstruction'] as const
const periodicOnly = ['initialDelay', 'timeUnit'] as const

/**
 * Checks what can be checked before placeholders are known; answers a frozen copy.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function checkScheduledOptions(options: ScheduledOptions): ScheduledOptions {
  const what = '@Scheduled'
  const given: unknown = options
  if (typeof given !== 'object' || given === null) {
    throw invalid(
      'options',
      `${what} takes an object such as { fixedRate: '5s' }, got ${describeValue(given)}.`,
    )
  }
  refuseUnknownKeys(what, options, ['name', ...schedules, ...cronOnly, ...periodicOnly])
  const has = (field: string): boolean => Reflect.get(options, field) !== undefined
  const named = schedules.filter(has)
  const [schedule] = named
  if (schedule === undefined || named.length > 1) {
    const found = named.length === 0 ? 'none' : named.join(' and ')
    throw invalid(
      named[1] ?? 'cron',
      `${what} needs exactly one of cron, fixedRate and fixedDelay, got ${found}.`,
    )
  }
  for (const field of schedule === 'cron' ? periodicOnly : cronOnly) {
    if (!has(field)) continue
    const remedy = field === 'initialDelay' ? ' A cron expression says itself when it fires first.' : ''
    throw invalid(field, `${what}: '${field}' does not go with ${schedule}; leave it out.${remedy}`)
  }
  for (const field of ['name', 'cron', 'zone']) requireText(what, field, Reflect.get(options, field))
  for (const field of ['fixedRate', 'fixedDelay', 'initialDelay']) {
    requireDurationLike(what, field, Reflect.get(options, field))
  }
  requireOneOf(what, 'timeUnit', options.timeUnit, timeUnits)
  requireOneOf(what, 'dst', options.dst, cronDsts)
  requireOneOf(what, 'misfireInstruction', options.misfireInstruction, calendarMisfireInstructions)
  return Object.freeze({ ...options })
}

function invalid(field: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError(field, message, 'ERR_INVALID_OPTION')
}

function requireText(what: string, field: string, value: unknown): void {
  if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return
  throw invalid(field, `${what}: '${field}' must be text that is not blank, got ${describeValue(value)}.`)
}

function requireDurationLike(what: string, field: string, value: unknown): void {
  if (value === undefined || typeof value === 'number' || (typeof value === 'string' && value.trim() !== ''))
    return
  throw invalid(field, `${what}: '${field}' must be a number, '5s' or 'PT5S', got ${describeValue(value)}.`)
}

function requireOneOf(what: string, field: string, value: unknown, known: readonly string[]): void {
  if (value === undefined || known.some((name) => name === value)) return
  throw invalid(field, `${what}: '${field}' must be one of ${known.join(', ')}, got ${describeValue(value)}.`)
}
