import { type CronFieldSpec, monthNames, weekdayNames } from './cron-fields.ts'
import type { FieldScanner } from './field-scanner.ts'

/** Digits beyond this many cannot be any field's value; their text is not read as a number. */
const digitsMax = 9

/** The items of a list, each read by `parseItem` from where it begins to its end. */
export function parseList(scanner: FieldScanner, parseItem: (scanner: FieldScanner) => void): void {
  for (;;) {
    if (scanner.isDone() || scanner.char === ',') throw emptyItem(scanner)
    parseItem(scanner)
    if (scanner.isDone()) return
    if (!scanner.take(',')) throw unexpected(scanner)
  }
}

/** What the plain items of a field add up to. */
export interface ValueSet {
  readonly values: Set<number>
  /** A bare `*` was among them. */
  all: boolean
}

/** A whole field of plain values, ranges and steps: ascending, `null` when a bare `*` allows all. */
export function parseValues(scanner: FieldScanner): readonly number[] | null {
  const set: ValueSet = { values: new Set(), all: false }
  parseList(scanner, () => {
    parseValuesItem(scanner, set)
  })
  return set.all ? null : ascending(set.values)
}

export function ascending(values: Iterable<number>): number[] {
  return [...values].sort((a, b) => a - b)
}

// One item: `*`, `*/n`, `/n`, `a`, `a-b`, `a/n` or `a-b/n`.
export function parseValuesItem(scanner: FieldScanner, set: ValueSet): void {
  const { min, max, wildcardMin = min } = scanner.spec
  if (scanner.char === '*' || scanner.char === '/') {
    if (!scanner.take('*') || scanner.char === '/') {
      addRange(set.values, scanner.spec, wildcardMin, max, parseStep(scanner, scanner.spec.stepMax).value)
      return
    }
    if (!isItemEnd(scanner)) throw afterStar(scanner)
    set.all = true
    return
  }
  const start = scanner.index
  const value = parseValue(scanner)
  const ranged = scanner.take('-')
  const last = ranged ? parseRangeEnd(scanner, start) : value
  const first = last < value ? rangeStart(scanner, value, last, start) : value
  // Quartz bounds the step of an open range only.
  const step = parseStep(scanner, ranged ? Number.MAX_SAFE_INTEGER : scanner.spec.stepMax)
  addRange(set.values, scanner.spec, first, ranged ? last : step.given ? max : first, step.value)
}

/** Where a range begins whose end comes before it. */
function rangeStart(scanner: FieldScanner, first: number, last: number, at: number): number {
  const { wraps, name, min, max, wildcardMin } = scanner.spec
  if (wraps) return first
  // The last value is the first one under another number.
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

/** Adds every `step`th value from `first` on; a range that ends before it begins runs over the end of the field. */
function addRange(values: Set<number>, spec: CronFieldSpec, first: number, last: number, step: number): void {
  const size = spec.max - spec.min + 1
  const end = last < first ? last + size : last
  for (let value = first; value <= end; value += step) values.add(value > spec.max ? value - size : value)
}

/** `/n` when it is there; `value` is 1 when it is not. */
function parseStep(scanner: FieldScanner, stepMax: number): { given: boolean; value: number } {
  const start = scanner.index
  if (!scanner.take('/')) return { given: false, value: 1 }
  const digits = scanner.takeDigits()
  if (digits === '') throw scanner.error(`'/' must be followed by the step, a whole number`)
  const value = toNumber(digits)
  if (value >= 1 && value <= stepMax) return { given: true, value }
  const written = scanner.text.slice(start, scanner.index)
  const found = `the ${scanner.spec.label} step must be from 1 to ${scanner.spec.stepMax}, found ${shorten(digits)}`
  const suggestion = value < 1 ? `Leave '${written}' out.` : null
  throw scanner.error(found, { at: start + 1, suggestion })
}

function parseRangeEnd(scanner: FieldScanner, start: number): number {
  if (isItemEnd(scanner)) throw scanner.error(`'-' must be followed by the end of the range`)
  if (scanner.char === '*' || scanner.char === '?') {
    const { max } = scanner.spec
    const begin = scanner.text.slice(start, scanner.index)
    throw scanner.error(`'${scanner.char}' cannot end a range`, {
      suggestion: scanner.write(`${begin}${max}`),
    })
  }
  return parseValue(scanner)
}

/** A number or a name within the field's bounds. */
export function parseValue(scanner: FieldScanner): number {
  const start = scanner.index
  const digits = scanner.takeDigits()
  if (digits !== '') return checkBounds(scanner, digits, start)
  const letters = scanner.takeLetters()
  if (letters === '') throw unexpected(scanner)
  return nameValue(scanner, letters, start)
}

/** The value of digits that were read at `start`. */
export function checkBounds(scanner: FieldScanner, digits: string, start: number): number {
  const { min, max, label } = scanner.spec
  const value = toNumber(digits)
  if (value >= min && value <= max) return value
  throw scanner.error(`${label} must be from ${min} to ${max}, found ${shorten(digits)}`, {
    at: start,
    suggestion: boundsAdvice(scanner, value),
  })
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

/** The value of letters that were read at `start`: a whole name or its first three letters. */
export function nameValue(scanner: FieldScanner, letters: string, start: number): number {
  const value = findName(scanner.spec, letters)
  if (value !== null) return value
  throw unknownName(scanner, letters, start)
}

/** The value of a name, or null. */
export function findName(spec: CronFieldSpec, letters: string): number | null {
  const index = spec.names.findIndex((name) => name === letters || name.slice(0, 3) === letters)
  return index < 0 ? null : index + spec.min
}

function unknownName(scanner: FieldScanner, letters: string, start: number): Error {
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
    weekdayNames.includes(letters) || weekdayNames.some((name) => name.slice(0, 3) === letters)
  const month = monthNames.some((name) => name === letters || name.slice(0, 3) === letters)
  if (elsewhere || month) {
    return scanner.error(`'${shown}' names a ${month ? 'month' : 'day of the week'}, not a ${spec.label}`, at)
  }
  if (letters === 'C' || letters === 'H') return scanner.error(`'${letters}' is not supported`, at)
  return scanner.error(`'${shown}' is no ${spec.label}`, at)
}

/** Something that no item can hold or go on with here. */
export function unexpected(scanner: FieldScanner): Error {
  const { char, spec, text, index } = scanner
  const before = text.slice(0, index)
  if (scanner.isDone()) return scanner.error('the field ends too early')
  if (char === ';' || char === '.') {
    return scanner.error(`'${char}' does not belong in a field; lists are separated by ','`, {
      suggestion: scanner.write(text.replaceAll(char, ',')),
    })
  }
  if (char === '?') {
    const dayField = spec.name === 'dayOfMonth' || spec.name === 'dayOfWeek'
    return scanner.error(
      dayField ? `'?' must be the whole field` : `'?' is for the two day fields only`,
      dayField ? { suggestion: scanner.write('?') } : { suggestion: scanner.write('*') },
    )
  }
  if (char === 'C' && before !== '') {
    return scanner.error(`'C' (calendar days) is not supported`, { suggestion: scanner.write(before) })
  }
  if (char === 'L' || char === 'W' || char === '#') {
    return scanner.error(`'${char}' does not belong here in the ${spec.label} field`)
  }
  return scanner.error(`'${char}' does not belong here`)
}

function afterStar(scanner: FieldScanner): Error {
  const rest = scanner.itemFrom(scanner.index)
  return scanner.error(`'*' must be followed by nothing or a step`, {
    suggestion: /^[0-9]{1,4}$/.test(rest) ? scanner.write(`*/${rest}`) : null,
  })
}

function emptyItem(scanner: FieldScanner): Error {
  const items = scanner.text.split(',').filter((item) => item !== '')
  return scanner.error('a list has an empty item', {
    suggestion: items.length === 0 ? scanner.write('*') : scanner.write(items.join(',')),
  })
}

/** True at the end of the field or before a comma. */
export function isItemEnd(scanner: FieldScanner): boolean {
  return scanner.isDone() || scanner.char === ','
}

function toNumber(digits: string): number {
  return digits.length > digitsMax ? Number.POSITIVE_INFINITY : Number(digits)
}

function shorten(text: string): string {
  return text.length > 20 ? `${text.slice(0, 20)}...` : text
}
