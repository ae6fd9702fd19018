/** The shapes of the rows, as test/vectors holds them. Instants are epoch milliseconds; null means "none". */

export type Instant = number | null

export interface CalendarRow {
  readonly type: string
  readonly zone: string
  readonly base: CalendarRow | null
  readonly excluded?: readonly (number | readonly [month: number, day: number])[]
  readonly excludedDates?: readonly number[]
  readonly expr?: string
  readonly start?: string
  readonly end?: string
  readonly invert?: boolean
}

/** What defines a trigger; each family uses a part of it. */
export interface TriggerDefinition {
  readonly type: string
  readonly zone?: string
  readonly start: number
  readonly end: Instant
  readonly calendar: CalendarRow | null
  readonly expr?: string
  readonly repeatCount?: number
  readonly repeatInterval?: number
  readonly interval?: number
  readonly unit?: string
  readonly preserveHourOfDay?: boolean
  readonly skipDayIfHourDoesNotExist?: boolean
  readonly startTimeOfDay?: readonly number[] | null
  readonly endTimeOfDay?: readonly number[] | null
  readonly endingDailyAfterCount?: number | null
  readonly daysOfWeek?: readonly number[] | null
  readonly builtStartTimeOfDay?: readonly number[]
  readonly builtEndTimeOfDay?: readonly number[]
  readonly misfireInstruction?: number
}

export interface TriggerRow extends TriggerDefinition {
  readonly first: Instant
  readonly fires: readonly number[]
  readonly more: boolean
  readonly final?: Instant
  readonly after: readonly (readonly [afterMs: number, fireTimeMs: Instant])[]
}

export interface TriggerStateRow {
  readonly nextFireTime: Instant
  readonly prevFireTime: Instant
  readonly startTime: number
  readonly endTime: Instant
  readonly repeatCount?: number
  readonly timesTriggered?: number
}

export interface MisfireRow extends TriggerDefinition {
  readonly op: string
  readonly misfireThreshold?: number
  readonly before: TriggerStateRow
  readonly now: number
  readonly after: TriggerStateRow
  readonly mayFireAgain: boolean
}

export interface CalendarTestRow {
  readonly calendar: CalendarRow
  readonly tests: readonly (readonly [timeMs: number, included: boolean])[]
}

export interface CronRow {
  readonly expr: string
  readonly zone: string
  readonly after: string
  readonly next: readonly number[]
  readonly end?: boolean
  readonly more?: boolean
}

export interface CronRejectRow {
  readonly expr: string
}
