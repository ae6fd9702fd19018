import type { CronExpressionError } from '../../core/errors.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { type CronFieldSpec, dayOfWeekSpec, findName, monthSpec } from './cron-fields.ts'
import { type CronToken, cronError, placeOf } from './cron-text.ts'

/** Digits beyond this many cannot be any field's value; their text is not read as a number. */
const digitsMax = 9

/** The values of the plain items of a field. */
export interface ValueSet {
  readonly values: Set<number>
  /** A bare `*` was among them. */
  all: boolean
}

/**
 * Reads one field from left to right: lists, values, ranges, steps and names, which all dialects share. The additions
 * of a dialect are in its own file and use the cursor. The scanner keeps its position for errors.
 */
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

  // The cursor.

  isDone(): boolean {
    return this.index >= this.text.length
  }

  /** True at the end of the field or before a comma. */
  isItemEnd(): boolean {
    return this.isDone() || this.char === ','
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

  /** The text from `start` to the end of its list item. */
  itemFrom(start: number): string {
    const comma = this.text.indexOf(',', start)
    return comma < 0 ? this.text.slice(start) : this.text.slice(start, comma)
  }

  #takeWhile(accepts: (char: string) => boolean): string {
    const start = this.index
    while (!this.isDone() && accepts(this.char)) this.index += 1
    return this.text.slice(start, this.index)
  }

  // What all dialects share.

  /** The items of a list, each read by `readItem` from where it begins to its end. */
  list(readItem: () => void): void {
    for (;;) {
      if (this.isItemEnd()) throw emptyItem(this)
      readItem()
      if (this.isDone()) return
      if (!this.take(',')) throw this.unexpected()
    }
  }

  /** A whole field of plain values, ranges and steps: ascending, `null` when a bare `*` allows all. */
  values(): readonly number[] | null {
    const set: ValueSet = { values: new Set(), all: false }
    this.list(() => {
      this.plainItem(set)
    })
    return set.all ? null : ascending(set.values)
  }

  /** One item: `*`, `*` with a step, a step alone, `a`, `a-b`, or one of these two with a step. */
  plainItem(set: ValueSet): void {
    const { min, max, wildcardMin = min, stepMax } = this.spec
    if (this.char === '*' || this.char === '/') {
      if (!this.take('*') || this.char === '/') {
        addRange(set.values, this.spec, wildcardMin, max, this.#step(stepMax).value)
        return
      }
      if (!this.isItemEnd()) throw afterStar(this)
      set.all = true
      return
    }
    const start = this.index
    const value = this.#value()
    const ranged = this.take('-')
    const last = ranged ? this.#rangeEnd(start) : value
    const first = last < value ? rangeStart(this, value, last, start) : value
    // Quartz bounds the step of an open range only.
    const step = this.#step(ranged ? Number.MAX_SAFE_INTEGER : stepMax)
    addRange(set.values, this.spec, first, ranged ? last : step.given ? max : first, step.value)
  }

  /** The value of digits that were read at `start`. */
  numberOf(digits: string, start: number): number {
    const { min, max, label } = this.spec
    const value = toNumber(digits)
    if (value >= min && value <= max) return value
    throw this.error(`${label} must be from ${min} to ${max}, found ${shorten(digits)}`, {
      at: start,
      suggestion: boundsAdvice(this, value),
    })
  }

  /** The value of letters that were read at `start`: a whole name or its first three letters. */
  namedBy(letters: string, start: number): number {
    const value = findName(this.spec, letters)
    if (value !== null) return value
    throw unknownName(this, letters, start)
  }

  /** A number or a name within the field's bounds. */
  #value(): number {
    const start = this.index
    const digits = this.takeDigits()
    if (digits !== '') return this.numberOf(digits, start)
    const letters = this.takeLetters()
    if (letters === '') throw this.unexpected()
    return this.namedBy(letters, start)
  }

  #rangeEnd(start: number): number {
    if (this.isItemEnd()) throw this.error(`'-' must be followed by the end of the range`)
    if (this.char === '*' || this.char === '?') {
      const begin = this.text.slice(start, this.index)
      const suggestion = this.write(`${begin}${this.spec.max}`)
      throw this.error(`'${this.char}' cannot end a range`, { suggestion })
    }
    return this.#value()
  }

  /** `/n` when it is there; `value` is 1 when it is not. */
  #step(stepMax: number): { given: boolean; value: number } {
    const start = this.index
    if (!this.take('/')) return { given: false, value: 1 }
    const digits = this.takeDigits()
    if (digits === '') throw this.error(`'/' must be followed by the step, a whole number`)
    const value = toNumber(digits)
    if (value >= 1 && value <= stepMax) return { given: true, value }
    const written = this.text.slice(start, this.index)
    const { label, stepMax: shownMax } = this.spec
    const found = `the ${label} step must be from 1 to ${shownMax}, found ${shorten(digits)}`
    const suggestion = value < 1 ? `Leave '${written}' out.` : null
    throw this.error(found, { at: start + 1, suggestion })
  }

  // Errors.

  /** The suggestion to write this field differently. */
  write(replacement: string): string {
    return `Write '${replacement}'.`
  }

  /** An error at an offset into the field, by default here. */
  error(found: string, options: { at?: number; suggestion?: string | null } = {}): CronExpressionError {
    const where = placeOf(this.spec, this.#position + (options.at ?? this.index))
    return cronError(this.#expression, where, found, options.suggestion ?? null)
  }

  /** The error for a character that no item can have here. */
  unexpected(): CronExpressionError {
    const { char, spec, text, index } = this
    const before = text.slice(0, index)
    if (this.isDone()) return this.error('the field ends too early')
    if (char === ';' || char === '.') {
      return this.error(`'${char}' does not belong in a field; lists are separated by ','`, {
        suggestion: this.write(text.replaceAll(char, ',')),
      })
    }
    if (char === '?') {
      const dayField = spec.name === 'dayOfMonth' || spec.name === 'dayOfWeek'
      return this.error(
        dayField ? `'?' must be the whole field` : `'?' is for the two day fields only`,
        dayField ? { suggestion: this.write('?') } : { suggestion: this.write('*') },
      )
    }
    if (char === 'C' && before !== '') {
      return this.error(`'C' (calendar days) is not supported`, { suggestion: this.write(before) })
    }
    if (char === 'L' || char === 'W' || char === '#') {
      return this.error(`'${char}' does not belong here in the ${spec.label} field`)
    }
    return this.error(`'${char}' does not belong here`)
  }
}

export function ascending(values: Iterable<number>): number[] {
  return [...values].sort((a, b) => a - b)
}

/** Adds every `step`th value from `first` on; a range that ends before it begins wraps over the end of the field. */
function addRange(values: Set<number>, spec: CronFieldSpec, first: number, last: number, step: number): void {
  const size = spec.max - spec.min + 1
  const end = last < first ? last + size : last
  for (let value = first; value <= end; value += step) values.add(value > spec.max ? value - size : value)
}

/** The position of a range whose end is before its beginning. */
function rangeStart(scanner: FieldScanner, first: number, last: number, at: number): number {
  const { wraps, name, min, max, wildcardMin } = scanner.spec
  if (wraps) return first
  // The last value means the same as the first one (Sunday is 0 and 7).
  if (first === max && wildcardMin !== undefined) return min
  if (name === 'year') {
    const suggestion = scanner.write(`${last}-${first}`)
    throw scanner.error(`the range ${first}-${last} runs backwards, and years do not come round again`, {
      at,
      suggestion,
    })
  }
  const suggestion = scanner.write(`${first}-${max},${min}-${last}`)
  throw scanner.error(`the range ${first}-${last} runs backwards`, { at, suggestion })
}

function boundsAdvice({ spec, text }: FieldScanner, value: number): string | null {
  if (spec.name === 'dayOfWeek' && spec.min === 1 && (value === 0 || value === 8)) {
    return 'Days of the week count from 1=SUN to 7=SAT: names cannot be mistaken.'
  }
  if (spec.name === 'month' && value === 0) return 'Months count from 1=JAN to 12=DEC.'
  if (spec.name === 'hour' && value === 24) return 'Midnight is hour 0.'
  const sixty = value === 60 && text === '60' && (spec.name === 'second' || spec.name === 'minute')
  return sixty ? `Write '0'.` : null
}

function unknownName(scanner: FieldScanner, letters: string, start: number): CronExpressionError {
  const { spec } = scanner
  const at = { at: start }
  const shown = shorten(letters)
  if (letters === 'L' || letters === 'W' || letters === 'LW') {
    return scanner.error(`'${shown}' does not belong here; L and W are for days only`, at)
  }
  const near = spec.names.find((name) => name.slice(0, 3) === letters.slice(0, 3))
  if (near !== undefined) {
    const name = near.slice(0, 3)
    return scanner.error(`'${shown}' is no ${spec.label} name`, { ...at, suggestion: scanner.write(name) })
  }
  const elsewhere =
    findName(monthSpec, letters) !== null
      ? 'month'
      : findName(dayOfWeekSpec, letters) !== null
        ? 'day of the week'
        : null
  if (elsewhere !== null) {
    return scanner.error(`'${shown}' names a ${elsewhere}, not a ${spec.label}`, at)
  }
  if (letters === 'C' || letters === 'H') return scanner.error(`'${letters}' is not supported`, at)
  return scanner.error(`'${shown}' is no ${spec.label}`, at)
}

function afterStar(scanner: FieldScanner): CronExpressionError {
  const rest = scanner.itemFrom(scanner.index)
  return scanner.error(`'*' must be followed by nothing or a step`, {
    suggestion: /^[0-9]{1,4}$/.test(rest) ? scanner.write(`*/${rest}`) : null,
  })
}

function emptyItem(scanner: FieldScanner): CronExpressionError {
  const items = scanner.text.split(',').filter((item) => item !== '')
  return scanner.error('a list has an empty item', {
    suggestion: items.length === 0 ? scanner.write('*') : scanner.write(items.join(',')),
  })
}

function toNumber(digits: string): number {
  return digits.length > digitsMax ? Number.POSITIVE_INFINITY : Number(digits)
}

function shorten(text: string): string {
  return text.length > 20 ? `${beginningOf(text, 20)}...` : text
}
