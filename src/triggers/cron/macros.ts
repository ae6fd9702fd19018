import type { CronFieldSpec } from './cron-fields.ts'
import { type CronToken, cronError, placeOf } from './cron-text.ts'

/** Crontab's macro for "once, when the daemon starts"; it stands for no time. */
export const rebootMacro = '@reboot'

/** The macros that stand for a time, as minute, hour, day of month, month and day of week. */
const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** A crontab, a page or a request has no `every`, so what works everywhere comes first. */
const everyAdvice =
  " Every five minutes is '*/5 * * * *'; an interval from one run to the next is the option 'every' of schedule."

/** The five fields that a macro stands for; null for a text that is none. */
export function fieldsOfMacro(text: string): string | null {
  return macros[text.toLowerCase()] ?? null
}

/**
 * The five fields that the macro of an expression stands for, or null when the expression does not begin with `@`.
 * Throws for a macro that is unknown or has something after it; `firstField` is the field that the error names.
 */
export function expandMacro(
  expression: string,
  tokens: readonly CronToken[],
  firstField: CronFieldSpec,
): string | null {
  const [first] = tokens
  if (first?.text.startsWith('@') !== true) return null
  const fields = fieldsOfMacro(first.text)
  if (fields !== null && tokens.length === 1) return fields
  const where = placeOf(firstField, first.position)
  const known = `Known macros: ${Object.keys(macros).join(', ')}.`
  const every = first.text === '@EVERY' ? everyAdvice : ''
  throw cronError(expression, where, 'a macro must be known and stand alone', known + every)
}
