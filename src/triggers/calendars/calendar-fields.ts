export type CalendarType = 'annual' | 'cron' | 'daily' | 'holiday' | 'monthly' | 'weekly'

/** What each family has beside zone, description and base: its options, which its plain form has as well. */
export const calendarFields: Readonly<Record<CalendarType, readonly string[]>> = {
  annual: ['excludedDays'],
  cron: ['expression', 'dst', 'dialect', 'seconds'],
  daily: ['rangeStart', 'rangeEnd', 'invertTimeRange'],
  holiday: ['excludedDates'],
  monthly: ['excludedDays'],
  weekly: ['excludedDays'],
}
