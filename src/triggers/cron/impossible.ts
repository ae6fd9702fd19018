import type { CronExpressionError } from '../../core/errors.ts'
import type { CronSchedule } from './cron-schedule.ts'
import { type CronPlace, cronError, type ParsedCron } from './cron-text.ts'
import { localAtOrAfter } from './local-search.ts'

/** Refuses an expression that no date matches, such as the 31st of February or the 29th in years that have none. */
export function refuseImpossible(expression: string, parsed: ParsedCron, schedule: CronSchedule): void {
  if (localAtOrAfter(schedule, Number.NEGATIVE_INFINITY) !== Number.POSITIVE_INFINITY) return
  throw impossibleDay(expression, parsed.dayField)
}

/** No month that the expression names has its day. */
export function impossibleDay(expression: string, dayField: CronPlace): CronExpressionError {
  const found = 'it can never fire, because no month that it names has such a day'
  return cronError(expression, dayField, found, 'Name a day that one of the months and years has.')
}
