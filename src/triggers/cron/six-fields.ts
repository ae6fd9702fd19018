import {
  type CronFieldSpec,
  type CronValues,
  dayOfMonthSpec,
  dayOfWeekSpec,
  hourSpec,
  isFixedField,
  minuteSpec,
  monthSpec,
  secondSpec,
} from './cron-fields.ts'
import { type CronPlace, type CronToken, placeOf } from './cron-text.ts'
import { isUnspecified, parseMonthDays } from './day-fields.ts'
import type { MonthDays, WeekDays } from './day-rule.ts'
import { FieldScanner } from './field-scanner.ts'

type Six<T> = readonly [T, T, T, T, T, T]

/** Second, minute, hour, day of month, month and day of week, as they are written. */
export type SixTokens = Six<CronToken>

/** What each of the six may hold. */
export type SixSpecs = Six<CronFieldSpec>

/** What the six fields say. */
export interface SixFields {
  readonly seconds: CronValues
  readonly minutes: CronValues
  readonly hours: CronValues
  readonly monthDays: MonthDays | null
  readonly months: CronValues
  readonly weekDays: WeekDays | null
}

/** As Quartz has them. */
export const sixSpecs: SixSpecs = [secondSpec, minuteSpec, hourSpec, dayOfMonthSpec, monthSpec, dayOfWeekSpec]

const straight = (spec: CronFieldSpec): CronFieldSpec => ({ ...spec, wraps: false })

/** The same for dialects whose ranges do not run over the end of a field. */
export const straightSpecs: SixSpecs = [
  straight(secondSpec),
  straight(minuteSpec),
  straight(hourSpec),
  straight(dayOfMonthSpec),
  straight(monthSpec),
  straight(dayOfWeekSpec),
]

export function isSix(tokens: readonly CronToken[]): tokens is SixTokens {
  return tokens.length === 6
}

/** Reads the six fields that Quartz's dialect and Spring's have. */
export function readSixFields(
  expression: string,
  tokens: SixTokens,
  specs: SixSpecs,
  readWeekDays: (scanner: FieldScanner) => WeekDays | null,
): SixFields {
  const scan = (index: 0 | 1 | 2 | 3 | 4 | 5): FieldScanner =>
    new FieldScanner(expression, tokens[index], specs[index])
  // In the order of the text, so that the first mistake is the one that is reported.
  return {
    seconds: scan(0).values(),
    minutes: scan(1).values(),
    hours: scan(2).values(),
    monthDays: isUnspecified(tokens[3]) ? null : parseMonthDays(scan(3)),
    months: scan(4).values(),
    weekDays: isUnspecified(tokens[5]) ? null : readWeekDays(scan(5)),
  }
}

/** Whether second, minute and hour name times of day. */
export function hasFixedTimes(tokens: SixTokens): boolean {
  return tokens.slice(0, 3).every(({ text }) => isFixedField(text))
}

/** The day field that restricts the days. */
export function restrictingDay(tokens: SixTokens): CronPlace {
  const monthDay = tokens[3]
  return monthDay.text === '*' || isUnspecified(monthDay)
    ? placeOf(dayOfWeekSpec, tokens[5].position)
    : placeOf(dayOfMonthSpec, monthDay.position)
}
