import { CronExpressionError, InvalidArgumentError } from '../core/errors.ts'
import { type DurationLike, requireDurationMs } from '../time/duration-options.ts'
import { CronExpression } from '../triggers/cron/cron-expression.ts'
import type { CronOptions } from '../triggers/cron/cron-reader.ts'
import type { CalendarMisfireInstruction } from '../triggers/misfire-instruction.ts'
import { type PlaceholderResolver, resolvePlaceholders } from './placeholders.ts'
import type { ScheduledOptions } from './scheduled-options.ts'

/** The text that switches a schedule off. */
export const disabledSchedule = '-'

/** When a task runs, with placeholders filled in. */
export type Schedule =
  | { readonly kind: 'disabled' }
  | {
      readonly kind: 'cron'
      readonly cron: CronExpression
      readonly misfireInstruction: CalendarMisfireInstruction
    }
  | { readonly kind: 'fixedRate'; readonly periodMs: number; readonly initialDelayMs: number }
  | { readonly kind: 'fixedDelay'; readonly delayMs: number; readonly initialDelayMs: number }

/**
 * The schedule of checked options.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION, ERR_UNKNOWN_TIME_ZONE; CronExpressionError
 */
export function scheduleOf(owner: string, options: ScheduledOptions, resolve: PlaceholderResolver): Schedule {
  const fill = <Value extends DurationLike | undefined>(field: string, value: Value): Value | string =>
    typeof value === 'string' ? resolvePlaceholders(owner, field, value, resolve).trim() : value
  if (options.cron !== undefined) {
    const cron = fill('cron', options.cron)
    if (cron === disabledSchedule) return { kind: 'disabled' }
    const { dst, misfireInstruction = 'smart' } = options
    const timeZone = fill('zone', options.zone)
    return { kind: 'cron', cron: cronOf(owner, cron, { timeZone, dst }), misfireInstruction }
  }
  const { timeUnit: unit = 'milliseconds' } = options
  const period = (field: string, given: DurationLike): number | null => {
    const duration = fill(field, given)
    return duration === disabledSchedule
      ? null
      : requireDurationMs(owner, field, duration, { minMs: 1, unit })
  }
  const initialDelay = fill('initialDelay', options.initialDelay ?? 0)
  const initialDelayMs = requireDurationMs(owner, 'initialDelay', initialDelay, { minMs: 0, unit })
  if (options.fixedRate !== undefined) {
    const periodMs = period('fixedRate', options.fixedRate)
    return periodMs === null ? { kind: 'disabled' } : { kind: 'fixedRate', periodMs, initialDelayMs }
  }
  const delayMs = period('fixedDelay', options.fixedDelay)
  return delayMs === null ? { kind: 'disabled' } : { kind: 'fixedDelay', delayMs, initialDelayMs }
}

/** Its errors say which method is meant: an application may have hundreds. */
function cronOf(owner: string, text: string, options: Pick<CronOptions, 'timeZone' | 'dst'>): CronExpression {
  try {
    return CronExpression.parse(text, { dialect: 'spring', ...options })
  } catch (cause) {
    if (cause instanceof CronExpressionError) {
      throw new CronExpressionError(`${owner}: 'cron': ${cause.message}`, cause, { cause })
    }
    if (!(cause instanceof InvalidArgumentError)) throw cause
    throw new InvalidArgumentError('zone', `${owner}: 'zone': ${cause.message}`, cause.code, { cause })
  }
}
