import { CronExpressionError } from '../../core/errors.ts'
import type { CronFieldSpec } from './cron-fields.ts'

/** One field of an expression, as it stands in the text. */
export interface CronToken {
  /** In upper case. */
  readonly text: string
  /** Zero-based offset into the expression. */
  readonly position: number
}

/** The longest text that is looked at: every value of every field but the years fits in. */
export const cronTextMaxLength = 1024

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

/** An error in words, with where it is. The expression in the message is cut when it is long. */
export function cronError(
  expression: string,
  where: { field: CronFieldSpec['name'] | null; label: string; position: number },
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

/** Reads one field from left to right and knows where it is, so that every error can say so. */
export class FieldScanner {
  readonly spec: CronFieldSpec
  readonly text: string
  readonly #expression: string
  readonly #position: number
  index = 0

  constructor(expression: string, token: CronToken, spec: CronFieldSpec) {
    this.spec = spec
    this.text = token.text
    this.#expression = expression
    this.#position = token.position
  }

  isDone(): boolean {
    return this.index >= this.text.length
  }

  get char(): string {
    return this.text[this.index] ?? ''
  }

  /** Steps over a character if it is the next one. */
  take(char: string): boolean {
    if (this.char !== char) return false
    this.index += 1
    return true
  }

  /** The digits from here on, possibly none. */
  takeDigits(): string {
    return this.#takeWhile((char) => char >= '0' && char <= '9')
  }

  /** The letters from here on, possibly none. */
  takeLetters(): string {
    return this.#takeWhile((char) => char >= 'A' && char <= 'Z')
  }

  /** What is written from `start` to the end of the list item that it is in. */
  itemFrom(start: number): string {
    const comma = this.text.indexOf(',', start)
    return comma < 0 ? this.text.slice(start) : this.text.slice(start, comma)
  }

  /** The suggestion to write this field differently. */
  write(replacement: string): string {
    return `Write '${replacement}'.`
  }

  /** An error at an offset into the field, by default here. */
  error(found: string, options: { at?: number; suggestion?: string | null } = {}): CronExpressionError {
    const position = this.#position + (options.at ?? this.index)
    return cronError(
      this.#expression,
      { field: this.spec.name, label: this.spec.label, position },
      found,
      options.suggestion ?? null,
    )
  }

  #takeWhile(accepts: (char: string) => boolean): string {
    const start = this.index
    while (!this.isDone() && accepts(this.char)) this.index += 1
    return this.text.slice(start, this.index)
  }
}
