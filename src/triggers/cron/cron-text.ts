import { CronExpressionError } from '../../core/errors.ts'
import { type CronFieldName, type CronFields, secondSpec } from './cron-fields.ts'

/** One field of an expression, as it stands in the text. */
export interface CronToken {
  /** In upper case. */
  readonly text: string
  /** Zero-based offset into the expression. */
  readonly position: number
}

/** The field that an error is about, and where it is. */
export interface CronPlace {
  readonly field: CronFieldName
  /** The field in words. */
  readonly label: string
  /** Zero-based offset into the expression. */
  readonly position: number
}

/** An expression taken apart: its fields and its text as it is kept. */
export interface ParsedCron {
  /** Upper case, single spaces; a macro in lower case. */
  readonly text: string
  readonly fields: CronFields
  /** The day field that restricts the days, and where it stands in the text that was given. */
  readonly dayField: CronPlace
}

/** The longest text that is looked at: every value of every field but the years fits in. */
const cronTextMaxLength = 1024

/** Refuses hostile lengths before anything reads the text. */
export function refuseLongText(expression: string): void {
  const where = placeOf(secondSpec, 0)
  if (typeof expression !== 'string') throw cronError(String(expression), where, 'it is not a string', null)
  if (expression.length <= cronTextMaxLength) return
  const found = `it has ${expression.length} characters, at most ${cronTextMaxLength} are read`
  throw cronError(expression, where, found, 'Use ranges and steps instead of long lists.')
}

/** Splits at spaces and tabs. */
export function splitFields(expression: string): readonly CronToken[] {
  const tokens: CronToken[] = []
  let start = -1
  for (let index = 0; index <= expression.length; index++) {
    const char = expression[index]
    const blank = char === undefined || char === ' ' || char === '\t'
    if (!blank && start < 0) start = index
    if (!blank || start < 0) continue
    tokens.push({ text: upperCase(expression.slice(start, index)), position: start })
    start = -1
  }
  return tokens
}

/** ASCII only: other letters may change their length in upper case, which would shift every position. */
function upperCase(text: string): string {
  return text.replace(/[a-z]/g, (char) => char.toUpperCase())
}

/** The text of an expression as it is kept. */
export function joinFields(tokens: readonly CronToken[]): string {
  return tokens.map((token) => token.text).join(' ')
}

export function placeOf(
  spec: { readonly name: CronFieldName; readonly label: string },
  position: number,
): CronPlace {
  return { field: spec.name, label: spec.label, position }
}

/** An error in words, with where it is. The expression in the message is cut when it is long. */
export function cronError(
  expression: string,
  where: CronPlace,
  found: string,
  suggestion: string | null,
): CronExpressionError {
  const shown = expression.length > 80 ? `${expression.slice(0, 80)}...` : expression
  const advice = suggestion === null ? '' : ` ${suggestion}`
  return new CronExpressionError(
    `Invalid cron expression '${shown}': ${found} (${where.label} field, position ${where.position}).${advice}`,
    { expression, field: where.field, position: where.position, suggestion },
  )
}
