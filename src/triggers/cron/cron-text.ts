import { CronExpressionError } from '../../core/errors.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { type CronFieldName, type CronFieldSpec, type CronFields, secondSpec } from './cron-fields.ts'

/** One field of an expression with its place in the text. */
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

/** A parsed expression: its fields and its normalized text. */
export interface ParsedCron {
  /** Upper case, single spaces; a macro in lower case. */
  readonly text: string
  readonly fields: CronFields
  /** The day field that restricts the days, and its position in the given text. */
  readonly dayField: CronPlace
}

/** The longest text that is read: every value of every field except years fits in. */
const cronTextMaxLength = 1024

/** Refuses a text that is too long before it is read. */
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

/** The normalized text of an expression. */
export function joinFields(tokens: readonly CronToken[]): string {
  const text = tokens.map((token) => token.text).join(' ')
  return text.startsWith('@') ? text.toLowerCase() : text
}

export function placeOf({ name, label }: CronFieldSpec, position: number): CronPlace {
  return { field: name, label, position }
}

/** The error about too few or too many fields: at the first that is too many, or at the end. */
export function wrongFieldCount(
  expression: string,
  tokens: readonly CronToken[],
  specs: readonly CronFieldSpec[],
  { most, needed, advice }: { most: number; needed: string; advice: string | null },
): CronExpressionError {
  const spec = specs[Math.min(tokens.length, specs.length - 1)] ?? secondSpec
  const position = tokens[most]?.position ?? expression.trimEnd().length
  const count = tokens.length === 1 ? '1 field' : `${tokens.length} fields`
  return cronError(expression, placeOf(spec, position), `it has ${count}, needed are ${needed}`, advice)
}

/** An error with its place. A long expression is cut in the message, which is one line whatever the expression has. */
export function cronError(
  expression: string,
  where: CronPlace,
  found: string,
  suggestion: string | null,
): CronExpressionError {
  const shown = expression.length > 80 ? `${beginningOf(expression, 80)}...` : expression
  const advice = suggestion === null ? '' : ` ${suggestion}`
  const place = `${where.label} field, position ${where.position}`
  const message = `Invalid cron expression '${shown}': ${found} (${place}).${advice}`
  return new CronExpressionError(
    message.replace(/(?!\t)\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
    { expression, field: where.field, position: where.position, suggestion },
  )
}
