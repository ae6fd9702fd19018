import type { EpochMs } from '../../time/clock.ts'
import { TimeZone } from '../../time/zone.ts'
import { CronExpression, checkExpression } from '../cron/cron-expression.ts'
import type { CronOptions } from '../cron/cron-reader.ts'
import { CronTimes } from '../cron/cron-times.ts'
import { calendarFields } from './calendar-fields.ts'
import { invalidCalendar, requireCalendarOptions } from './invalid-calendar.ts'
import { type CalendarOptions, ZonedCalendar } from './zoned-calendar.ts'

export interface CronCalendarOptions
  extends CalendarOptions,
    Pick<CronOptions, 'dst' | 'dialect' | 'seconds'> {
  /** The seconds that are left out: an expression as text, or a parsed one, which keeps its zone. */
  readonly expression: string | CronTimes
}

/** Leaves out every second that a cron expression matches. */
export class CronCalendar extends ZonedCalendar {
  readonly cronExpression: CronTimes

  /** @throws InvalidArgumentError ERR_INVALID_CALENDAR, ERR_UNKNOWN_TIME_ZONE; CronExpressionError */
  constructor(options: CronCalendarOptions) {
    requireCalendarOptions('cron', options)
    const { expression, timeZone, dst, dialect, seconds, description = null, baseCalendar = null } = options
    checkExpression("Calendar 'cron'", 'expression', expression, 'ERR_INVALID_CALENDAR')
    const parsed =
      typeof expression === 'string'
        ? CronExpression.parse(expression, { timeZone, dst, dialect, seconds })
        : ownExpression(expression)
    super('cron', { ...options, timeZone: parsed.timeZone, description, baseCalendar }, calendarFields.cron)
    if (timeZone !== undefined && TimeZone.of(timeZone).name !== parsed.timeZone) {
      throw invalidCalendar(
        'cron',
        'timeZone',
        `the expression is in ${parsed.timeZone}, not in ${timeZone}. Leave timeZone out, or use withTimeZone.`,
      )
    }
    this.cronExpression = parsed
  }

  override get type(): 'cron' {
    return 'cron'
  }

  protected override includes(timeMs: EpochMs): boolean {
    return !this.cronExpression.isSatisfiedBy(new Date(timeMs))
  }

  protected override nextOwnIncluded(timeMs: EpochMs, horizonMs: EpochMs): EpochMs | null {
    let instantMs = timeMs + 1
    while (instantMs <= horizonMs) {
      if (this.includes(instantMs)) return instantMs
      // Under the quartz policy a second of an overlap may have no fire and still count as matched.
      instantMs = this.cronExpression.invalidMsAfter(instantMs, horizonMs)
    }
    return null
  }

  protected override ownFields(): Readonly<Record<string, unknown>> {
    const { expression, dst, dialect, seconds } = this.cronExpression.toJSON()
    return { expression, dst, dialect, seconds }
  }
}

/** One of a second copy of the package may lack what the search needs, which is not public. */
function ownExpression(parsed: Pick<CronTimes, 'toJSON'>): CronTimes {
  if (parsed instanceof CronTimes) return parsed
  const json = parsed.toJSON()
  return CronExpression.parse(json.expression, json)
}
