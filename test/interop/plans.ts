/** What a test plans, in words that both kinds of nodes understand: every value is text. */

export const recordJobType = 'interop.QuartzNode$RecordJob'
export const exclusiveJobType = 'interop.QuartzNode$ExclusiveJob'

export interface PlannedJob {
  readonly name: string
  readonly group: string
  readonly type: typeof recordJobType | typeof exclusiveJobType
  readonly description?: string
  readonly durable?: boolean
  readonly recovery?: boolean
  readonly data?: Readonly<Record<string, string>>
}

export interface PlannedTrigger {
  readonly name: string
  readonly group: string
  readonly job: { readonly name: string; readonly group: string }
  readonly schedule: PlannedSchedule
  readonly startMs: number
  readonly endMs?: number
  readonly description?: string
  readonly priority?: number
  readonly calendar?: string
  /** Quartz's number. Default 0, smart. */
  readonly misfire?: number
  readonly data?: Readonly<Record<string, string>>
}

export type PlannedSchedule =
  | { readonly type: 'simple'; readonly repeatCount: number; readonly intervalMs: number }
  | { readonly type: 'cron'; readonly expression: string; readonly zone: string }
  | {
      readonly type: 'calendarInterval'
      readonly interval: number
      readonly unit: string
      readonly zone: string
      readonly preserveHour: boolean
      readonly skipDay: boolean
    }
  | {
      readonly type: 'dailyTimeInterval'
      readonly interval: number
      readonly unit: string
      readonly repeatCount: number
      /** Seconds of the day. */
      readonly from: number
      readonly to: number
      /** Numbers of weekdays, 1=SUN. */
      readonly days: string
    }

/** The fields of a `schedule` command. */
export function commandOf(
  trigger: PlannedTrigger,
  job: PlannedJob | null,
  show: number,
): Record<string, string> {
  const { name, group, schedule, startMs, endMs, description, priority = 5, calendar, misfire = 0 } = trigger
  return text({
    name,
    group,
    ...schedule,
    start: startMs,
    end: endMs,
    description,
    priority,
    calendar,
    misfire,
    show,
    ...prefixed('data.', trigger.data ?? {}),
    ...(job === null ? { 'job.name': trigger.job.name, 'job.group': trigger.job.group } : jobFields(job)),
  })
}

/** The fields of an `addJob` command. */
export function jobFields(job: PlannedJob): Record<string, string> {
  const { data = {}, ...fields } = job
  return text({ ...prefixed('job.', fields), ...prefixed('job.data.', data) })
}

function prefixed(prefix: string, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]))
}

function text(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}
