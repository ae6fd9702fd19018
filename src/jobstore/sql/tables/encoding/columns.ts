import { JobPersistenceError } from '../../../../core/errors.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import type { SqlRow } from '../../kernel/statement.ts'

// Engines and drivers disagree on how a value comes back: pg gives bigint as text, SQLite booleans as 0 and 1. All
// columns are read through these functions.

export function textOrNull(row: SqlRow, column: string): string | null {
  const value = row[column]
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  throw broken(column, 'a text', value)
}

export function text(row: SqlRow, column: string): string {
  const value = textOrNull(row, column)
  if (value === null) throw broken(column, 'a text', value)
  return value
}

export function integerOrNull(row: SqlRow, column: string): number | null {
  const value = row[column]
  if (value === null || value === undefined) return null
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number === 'bigint') return Number(number)
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw broken(column, 'a whole number', value)
}

export function integer(row: SqlRow, column: string): number {
  const value = integerOrNull(row, column)
  if (value === null) throw broken(column, 'a whole number', value)
  return value
}

/** NULL reads as false. */
export function boolean(row: SqlRow, column: string): boolean {
  const value = row[column]
  if (value === true || value === 1) return true
  if (value === false || value === 0 || value === null || value === undefined) return false
  throw broken(column, 'a boolean', value)
}

export function bytesOrNull(row: SqlRow, column: string): Buffer | null {
  const value = row[column]
  if (value === null || value === undefined) return null
  if (Buffer.isBuffer(value)) return value
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw broken(column, 'bytes', value)
}

/** Java writes 0 or -1 where there is no instant. A value that a Date cannot hold reads as none. */
export function instantOrNull(row: SqlRow, column: string): number | null {
  const value = integerOrNull(row, column)
  if (value === null || value <= 0) return null
  if (value > instantMaxMs) throw broken(column, 'an instant', value)
  return value
}

/** An instant that is never NULL, and may be before 1970. */
export function instant(row: SqlRow, column: string): number {
  const value = integer(row, column)
  if (Math.abs(value) > instantMaxMs) throw broken(column, 'an instant', value)
  return value
}

/** The value of a column, or null when it cannot be read: for programs that go on without it. */
export function readable<Value>(
  read: (row: SqlRow, column: string) => Value,
  row: SqlRow,
  column: string,
  otherwise: Value,
): Value {
  try {
    return read(row, column)
  } catch {
    return otherwise
  }
}

/** The value of a column for a message: NULL as an empty text, bytes as SQL writes them. */
export function anyText(row: SqlRow, column: string): string {
  const value = row[column] ?? ''
  return typeof value === 'string' ? value : describeColumn(value)
}

function describeColumn(value: unknown): string {
  return value instanceof Uint8Array ? `x'${Buffer.from(value).toString('hex').slice(0, 80)}'` : String(value)
}

function broken(column: string, wanted: string, found: unknown): JobPersistenceError {
  return new JobPersistenceError(
    `Column '${column}' holds ${describeColumn(found)} where ${wanted} belongs.`,
    {
      code: 'ERR_BROKEN_ROW',
    },
  )
}
