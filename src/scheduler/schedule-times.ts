import { CronExpressionError, InvalidArgumentError } from '../core/errors.ts'
import type { CronWhen, ScheduleOptions } from '../jobs/schedule-options.ts'
import { type DurationLike, requireDurationMs } from '../time/duration-options.ts'
import { dialectOf } from '../triggers/cron/cron-dialect.ts'
import { CronScheduleBuilder } from '../triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../triggers/families/simple/simple-trigger.ts'
import type { ScheduleBuilder } from '../triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../triggers/trigger.ts'

/**
 * Reads what options say of times, so that a wrong one is refused where it is written.
 *
 * @throws InvalidArgumentError, CronExpressionError for a time, a duration or a zone that cannot be read
 */
export function checkTimes(method: string, options: ScheduleOptions<object>): void {
  timesOf(method, options)
  if (options.in !== undefined) delayMsOf(method, options.in)
}

export function delayMsOf(method: string, delay: DurationLike): number {
  return requireDurationMs(method, 'in', delay, { minMs: 0, needsUnit: true })
}

/** The times that options say, but for their start and end. */
export function timesOf(method: string, options: ScheduleOptions<object>): ScheduleBuilder<Trigger> {
  const { cron, daily, every } = options
  if (cron !== undefined || daily !== undefined) {
    const { misfireInstruction = 'smart' } = options
    // A text from a file or a variable may end with its line.
    const text = daily === undefined ? cron.trim() : cronOfDay(method, daily)
    return cronOf(method, text, options).withMisfireInstruction(misfireInstruction)
  }
  const simple = SimpleScheduleBuilder.simpleSchedule()
  if (every === undefined) return simple
  return simple
    .withIntervalInMilliseconds(requireDurationMs(method, 'every', every, { minMs: 1, needsUnit: true }))
    .repeatForever()
    .withMisfireInstruction(options.misfireInstruction ?? 'smart')
}

function cronOf(
  method: string,
  text: string,
  { dialect, zone, dst }: Pick<CronWhen, 'dialect' | 'zone' | 'dst'>,
): CronScheduleBuilder {
  try {
    return CronScheduleBuilder.cronSchedule(text, {
      timeZone: zone,
      dst,
      dialect: dialect ?? dialectOf(text),
      seconds: dialect === 'unix' ? 'optional' : 'never',
    })
  } catch (error) {
    if (error instanceof CronExpressionError) {
      throw new CronExpressionError(`${method}: ${error.message}`, error)
    }
    if (!(error instanceof InvalidArgumentError) || error.field !== 'timeZone') throw error
    // The short forms call it so.
    throw new InvalidArgumentError('zone', `${method}: ${error.message}`, error.code)
  }
}

const timeOfDay = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

function cronOfDay(method: string, daily: string): string {
  const [, hour, minute, second = '0'] = timeOfDay.exec(daily.trim()) ?? []
  if (hour !== undefined && minute !== undefined) {
    return `${Number(second)} ${Number(minute)} ${Number(hour)} ? * *`
  }
  throw new InvalidArgumentError(
    'daily',
    `${method}: 'daily' must be a time of day such as '07:00' or '23:30:15', got '${daily}'.`,
    'ERR_INVALID_OPTION',
  )
}
