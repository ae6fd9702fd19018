import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from './calendars/calendar.ts'
import { requireOneOf } from './invalid-trigger.ts'
import { type CalendarMisfireInstruction, calendarMisfireInstructions } from './misfire-instruction.ts'
import { Trigger } from './trigger.ts'
import type { TriggerFields } from './trigger-fields.ts'

/** The common part of triggers that follow the wall clock of a zone: their misfire instructions. */
export abstract class RecurringTrigger extends Trigger {
  override readonly misfireInstruction: CalendarMisfireInstruction

  protected constructor(
    fields: TriggerFields,
    misfireInstruction: CalendarMisfireInstruction,
    nextFireTimeMs: EpochMs | null,
    previousFireTimeMs: EpochMs | null,
    timesTriggered: number,
    misfiredFireTimeMs: EpochMs | null,
  ) {
    super(fields, nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs)
    this.misfireInstruction = misfireInstruction
  }

  /** IANA name of the zone whose wall clock the schedule follows. */
  abstract get timeZone(): string

  /**
   * `smart` means `fireOnceNow`, which does not ask the calendar; `doNothing` goes on with the next included time. As
   * in Quartz, `fireOnceNow` makes up for fires missed before the end time also when `nowMs` is after it.
   */
  override updateAfterMisfire(calendar: Calendar | null, nowMs: EpochMs): this {
    switch (this.misfireInstruction) {
      case 'ignore':
        return this
      case 'doNothing':
        return this.goingOnAfter(calendar, nowMs)
      default:
        return this.firingLateAt(nowMs)
    }
  }

  override validate(): void {
    super.validate()
    requireOneOf(this.describe(), 'misfireInstruction', this.misfireInstruction, calendarMisfireInstructions)
  }
}
