export const dialects = ['quartz', 'unix', 'spring'] as const
export type Dialect = (typeof dialects)[number]
export const dstRules = ['vixie', 'quartz'] as const
export type DstRule = (typeof dstRules)[number]

export const fieldNames = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek', 'year'] as const
export type FieldName = (typeof fieldNames)[number]

/** The fields of a dialect; those of Quartz may end with a year. */
export function fieldsOf(dialect: Dialect): readonly FieldName[] {
  switch (dialect) {
    case 'unix':
      return fieldNames.slice(1, 6)
    case 'spring':
      return fieldNames.slice(0, 6)
    case 'quartz':
      return fieldNames
  }
}

/** The texts of the fields; null for what is no list of fields, such as `@daily`. */
export function splitFields(text: string, dialect: Dialect): readonly string[] | null {
  const parts = text.trim().split(/\s+/)
  const most = fieldsOf(dialect).length
  const least = dialect === 'quartz' ? 6 : most
  return parts.length < least || parts.length > most ? null : parts
}

/** The fields with another text in one of them. */
export function withField(parts: readonly string[], index: number, text: string): readonly string[] {
  const next = [...parts]
  next[index] = text.replace(/\s+/g, '')
  return next
}

/** Whether a field is empty that must not be: the year alone may be left out. */
export function hasGap(parts: readonly string[]): boolean {
  return parts.slice(0, 6).includes('')
}

export type PresetName =
  | 'everyMinute'
  | 'everyFive'
  | 'hourly'
  | 'nightly'
  | 'weekdays'
  | 'mondays'
  | 'firstDay'
  | 'lastDay'

const unixPresets: Readonly<Record<PresetName, string>> = {
  everyMinute: '* * * * *',
  everyFive: '*/5 * * * *',
  hourly: '0 * * * *',
  nightly: '0 2 * * *',
  weekdays: '0 7 * * 1-5',
  mondays: '0 9 * * 1',
  firstDay: '0 0 1 * *',
  lastDay: '0 0 L * *',
}

const quartzPresets: Readonly<Record<PresetName, string>> = {
  everyMinute: '0 * * * * ?',
  everyFive: '0 0/5 * * * ?',
  hourly: '0 0 * * * ?',
  nightly: '0 0 2 * * ?',
  weekdays: '0 0 7 ? * MON-FRI',
  mondays: '0 0 9 ? * MON',
  firstDay: '0 0 0 1 * ?',
  lastDay: '0 0 0 L * ?',
}

export function presetsOf(dialect: Dialect): Readonly<Record<PresetName, string>> {
  return dialect === 'unix' ? unixPresets : quartzPresets
}

/** The same preset in another dialect; what somebody has written stays. */
export function inDialect(text: string, from: Dialect, to: Dialect): string {
  const [name] = Object.entries(presetsOf(from)).find(([, preset]) => preset === text) ?? []
  return name === undefined ? text : presetsOf(to)[name as PresetName]
}
