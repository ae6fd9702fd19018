import {
  AnnualCalendar,
  CronCalendar,
  DailyCalendar,
  HolidayCalendar,
  MonthlyCalendar,
  WeeklyCalendar,
} from '../../src/index.ts'
import * as kinds from './kinds.ts'
import type { Surface } from './surface.ts'

const code = 'ERR_INVALID_CALENDAR'

/** The options of a calendar: those that it needs, each field wrong once, an unknown one, and what is no object. */
function calendarOptions(
  good: object,
  fields: Readonly<Record<string, kinds.Kind>>,
  { needed = true } = {},
): kinds.Kind {
  const all = {
    timeZone: kinds.zone,
    description: kinds.orNull(kinds.text),
    baseCalendar: kinds.orNull(kinds.aCalendar),
    ...fields,
  }
  const ofFields = Object.entries(all).flatMap(([field, kind]) =>
    kind.wrong
      .filter(({ value }) => value !== undefined)
      .map(({ value }) => ({
        value: { ...good, [field]: value },
        field,
        code: kind.code === 'ERR_INVALID_ARGUMENT' ? code : kind.code,
      })),
  )
  const notOptions = kinds.object.wrong.filter(({ value }) => needed || value !== undefined)
  return {
    good,
    code,
    wrong: [
      ...notOptions.map((wrong) => ({ ...wrong, field: 'options' })),
      { value: { ...good, unheardOf: 1 }, field: 'unheardOf' },
      ...ofFields,
    ],
  }
}

const list = kinds.oneOf('x')
const time = kinds.oneOf('x')
const surface = (subject: new (options: never) => object, options: kinds.Kind): Surface => ({
  name: subject.name,
  subject,
  calls: { new: { options } },
})

export const calendarSurfaces: readonly Surface[] = [
  surface(AnnualCalendar, calendarOptions({ excludedDays: [] }, { excludedDays: list })),
  surface(HolidayCalendar, calendarOptions({ excludedDates: [] }, { excludedDates: list })),
  surface(MonthlyCalendar, calendarOptions({ excludedDays: [] }, { excludedDays: list })),
  surface(WeeklyCalendar, calendarOptions({}, { excludedDays: kinds.orNull(list) }, { needed: false })),
  surface(
    DailyCalendar,
    calendarOptions(
      { rangeStart: '08:00', rangeEnd: '09:00' },
      { rangeStart: time, rangeEnd: time, invertTimeRange: kinds.boolean },
    ),
  ),
  surface(
    CronCalendar,
    calendarOptions(
      { expression: '0 0 12 * * ?' },
      {
        expression: kinds.named({ ...kinds.text, wrong: kinds.text.wrong }, { code: 'ERR_INVALID_CALENDAR' }),
        dst: kinds.named(kinds.oneOf('vixie'), { code: 'ERR_INVALID_OPTION' }),
        dialect: kinds.named(kinds.oneOf('quartz'), { code: 'ERR_INVALID_OPTION' }),
      },
    ),
  ),
]
