import { InvalidArgumentError } from '../../core/errors.ts'
import { describeValue, isObject } from '../../core/options.ts'

export function invalidCalendar(type: string, field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `Calendar '${type}': ${problem}`, 'ERR_INVALID_CALENDAR')
}

/** How many calendars may stand on one another. */
export const maxChainLength = 100

export function tooLongChain(type: string, field: string): InvalidArgumentError {
  const remedy = 'Make one calendar of several, such as one HolidayCalendar of all their dates.'
  return invalidCalendar(type, field, `more than ${maxChainLength} calendars stand on one another. ${remedy}`)
}

/** Sorted and without repetitions; refuses anything but whole numbers within the bounds. */
export function requireNumbers(
  type: string,
  field: string,
  values: unknown,
  bounds: { readonly min: number; readonly max: number },
): readonly number[] {
  const numbers = requireList(type, field, values).map((value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= bounds.max) {
      return value
    }
    throw invalidCalendar(
      type,
      field,
      `'${field}' must hold whole numbers from ${bounds.min} to ${bounds.max}, found ${describeValue(value)}.`,
    )
  })
  return [...new Set(numbers)].sort((a, b) => a - b)
}

export function requireList(type: string, field: string, values: unknown): readonly unknown[] {
  if (Array.isArray(values)) return values
  throw invalidCalendar(type, field, `'${field}' must be an array, got ${describeValue(values)}.`)
}

/** Refuses options that are no object, before a field of them is read. */
export function requireCalendarOptions(type: string, options: unknown): void {
  if (isObject(options)) return
  throw invalidCalendar(type, 'options', `'options' must be an object, got ${describeValue(options)}.`)
}
