import { CronExpression } from '../../triggers/cron/cron-expression.ts'
import { expandSpringMacro } from '../../triggers/cron/spring-fields.ts'

const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/**
 * The same schedule in Quartz's dialect, which Java nodes can read from the database. Two restricting day fields, or a
 * list with `L`, `W` or `#`, have no form in that dialect and stay as they are.
 */
export function inQuartzDialect(cron: CronExpression): CronExpression {
  if (cron.dialect !== 'spring') return cron
  const text = expandSpringMacro(cron.expression) ?? cron.expression
  const [second, minute, hour, dayOfMonth = '', month, dayOfWeek = ''] = text.split(' ')
  const days = quartzDays(cron, dayOfMonth, dayOfWeek)
  if (days === null) return cron
  const { timeZone, dst } = cron
  return CronExpression.parse([second, minute, hour, days[0], month, days[1]].join(' '), { timeZone, dst })
}

function quartzDays(cron: CronExpression, dayOfMonth: string, dayOfWeek: string): [string, string] | null {
  const everyMonthDay = dayOfMonth === '*' || dayOfMonth === '?'
  const everyWeekDay = dayOfWeek === '*' || dayOfWeek === '?'
  if (everyWeekDay) {
    if (everyMonthDay) return ['*', '?']
    return /,.*[LW]|[LW].*,/.test(dayOfMonth) ? null : [dayOfMonth, '?']
  }
  const weekDays = everyMonthDay ? quartzWeekDays(cron) : null
  return weekDays === null ? null : ['?', weekDays]
}

/** Days of the week as names, which mean the same in every dialect: Spring has 0 and 7=SUN, Quartz 1=SUN. */
function quartzWeekDays(cron: CronExpression): string | null {
  const { daysOfWeek, lastDaysOfWeek, nthDaysOfWeek } = cron.summary()
  if (typeof daysOfWeek === 'string') return daysOfWeek
  const specials = [
    ...lastDaysOfWeek.map((day) => `${day}L`),
    ...nthDaysOfWeek.map(({ day, nth }) => `${day}#${nth}`),
  ]
  if (specials.length === 0) return runsOf(daysOfWeek).map(nameRun).join(',')
  return specials.length === 1 && daysOfWeek.length === 0 ? (specials[0] ?? null) : null
}

/** Ascending numbers as runs of neighbours. */
function runsOf(values: readonly number[]): number[][] {
  const runs: number[][] = []
  for (const value of values) {
    const run = runs.at(-1)
    if (run !== undefined && run.at(-1) === value - 1) run.push(value)
    else runs.push([value])
  }
  return runs
}

function nameRun(run: readonly number[]): string {
  const names = run.map((day) => weekdays[day - 1])
  return run.length < 3 ? names.join(',') : `${names[0]}-${names.at(-1)}`
}
