/** Weekdays as Quartz numbers them. */
export const DayOfWeek = {
  SUNDAY: 1,
  MONDAY: 2,
  TUESDAY: 3,
  WEDNESDAY: 4,
  THURSDAY: 5,
  FRIDAY: 6,
  SATURDAY: 7,
} as const
export type DayOfWeek = (typeof DayOfWeek)[keyof typeof DayOfWeek]
