import cronstrue from 'cronstrue'
import type { CronDialect } from './cron-dialect.ts'
import { dayOfWeekSpec, findName, monthSpec } from './cron-fields.ts'
import { expandSpringMacro } from './spring-fields.ts'

/**
 * An expression in English words. cronstrue knows neither whole names nor `W` or `*` in a list, so these are rewritten
 * for it.
 */
export function describeCron(expression: string, dialect: CronDialect): string {
  if (dialect === 'unix') return words(expression.toLowerCase(), dialect)
  const text = dialect === 'spring' ? (expandSpringMacro(expression) ?? expression) : expression
  const fields = text.split(' ').map((field) => everything(shortNames(field).replace(/(^|,)\//g, '$1*/')))
  const monthDays = fields[3] ?? ''
  if (!monthDays.includes('W') || /^(?:LW|\d+W)$/.test(monthDays)) return words(fields.join(' '), dialect)
  fields[3] = '*'
  return `${words(fields.join(' '), dialect)}, on ${joined(monthDays.split(',').map(dayWords))}`
}

function words(expression: string, dialect: CronDialect): string {
  // It reads `007` as no day of the week.
  return cronstrue.toString(expression.replace(/\b0+(?=\d)/g, ''), {
    dayOfWeekStartIndexZero: dialect !== 'quartz',
    use24HourTimeFormat: true,
  })
}

/** A list that contains `*` is `*`; cronstrue knows `*` only as a whole field. */
function everything(field: string): string {
  return field.split(',').some((item) => item === '*' || item === '*/1') ? '*' : field
}

/** Month and weekday names cut to three letters; an L may follow a weekday. */
function shortNames(field: string): string {
  return field.replace(/[A-Z]{4,}/g, (letters) => {
    if (isName(letters)) return letters.slice(0, 3)
    return letters.endsWith('L') && isName(letters.slice(0, -1)) ? `${letters.slice(0, 3)}L` : letters
  })
}

function isName(letters: string): boolean {
  return findName(monthSpec, letters) !== null || findName(dayOfWeekSpec, letters) !== null
}

/** One item of a day-of-month list. */
function dayWords(item: string): string {
  const [, last, offset, nearest] = /^(L?)-?(\d*)(W?)$/.exec(item) ?? []
  if (last === undefined) return `days ${item}`
  if (last === '') return nearest === 'W' ? `the weekday nearest day ${offset}` : `day ${offset}`
  if (offset === '') return nearest === 'W' ? 'the last weekday' : 'the last day'
  const day = `${offset} days before the last day`
  return nearest === 'W' ? `the weekday nearest to ${day}` : day
}

function joined(items: readonly string[]): string {
  const last = items.at(-1) ?? ''
  const text = items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`
  return `${text} of the month`
}
