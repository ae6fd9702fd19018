import { TimeZone } from '../../../time/zone.ts'
import { calendarMisfireInstructions } from '../../misfire-instruction.ts'
import type { TriggerFamily } from '../../trigger-family.ts'
import { calendarIntervalUnits } from './calendar-interval-schedule.ts'
import { CalendarIntervalTrigger, type CalendarIntervalTriggerFields } from './calendar-interval-trigger.ts'

interface Json extends Omit<CalendarIntervalTriggerFields, 'zone' | 'misfireInstruction'> {
  readonly timeZone: string
}

export const calendarIntervalFamily: TriggerFamily<CalendarIntervalTrigger> = {
  type: 'calendarInterval',
  storedType: 'CAL_INT',
  misfireInstructions: calendarMisfireInstructions,
  table: 'simprop_triggers',
  columns: {
    str_prop_1: 'repeatIntervalUnit',
    str_prop_2: 'timeZone',
    int_prop_1: 'repeatInterval',
    bool_prop_1: 'preserveHourOfDayAcrossDaylightSavings',
    bool_prop_2: 'skipDayIfHourDoesNotExist',
  },
  keepsScheduleOnMisfire: true,

  toJSON({
    timeZone,
    repeatInterval,
    repeatIntervalUnit,
    preserveHourOfDayAcrossDaylightSavings,
    skipDayIfHourDoesNotExist,
  }): Json {
    return {
      timeZone,
      repeatInterval,
      repeatIntervalUnit,
      preserveHourOfDayAcrossDaylightSavings,
      skipDayIfHourDoesNotExist,
    }
  },

  fromJSON(fields, json, misfireInstruction) {
    const plain = json as unknown as Json
    return new CalendarIntervalTrigger(fields, {
      ...plain,
      zone: TimeZone.of(plain.timeZone),
      misfireInstruction,
    })
  },

  toColumns(trigger) {
    return {
      str_prop_1: trigger.repeatIntervalUnit,
      str_prop_2: trigger.timeZone,
      int_prop_1: trigger.repeatInterval,
      bool_prop_1: trigger.preserveHourOfDayAcrossDaylightSavings,
      bool_prop_2: trigger.skipDayIfHourDoesNotExist,
    }
  },

  fromColumns(fields, row, misfireInstruction) {
    return new CalendarIntervalTrigger(fields, {
      repeatInterval: row.integer('int_prop_1'),
      repeatIntervalUnit: row.oneOf('str_prop_1', calendarIntervalUnits),
      zone: row.zone('str_prop_2'),
      preserveHourOfDayAcrossDaylightSavings: row.boolean('bool_prop_1'),
      skipDayIfHourDoesNotExist: row.boolean('bool_prop_2'),
      misfireInstruction,
    })
  },
}
