import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { withoutMark } from '../../core/byte-order-mark.ts'
import { isObject } from '../../core/options.ts'
import { textOf } from '../../core/thrown-value.ts'
import { UsageError } from '../command.ts'
import { type DumpRow, requireEnd, SqlDump } from './sql-dump.ts'

/** Most bytes of a file: it is read into memory. Logs, which make dumps long, are not needed. */
const fileBytesMax = 64 * 1024 * 1024

/** The tables of XXL-JOB that say what is defined. */
export interface XxlTables {
  readonly groups: readonly XxlRow[]
  readonly jobs: readonly XxlRow[]
  readonly users: readonly XxlRow[]
}

const tableNames = { groups: 'xxl_job_group', jobs: 'xxl_job_info', users: 'xxl_job_user' } as const

/** One row; the names of its columns are compared without case and `_`, so that `jobGroup` is `job_group`. */
export class XxlRow {
  /** Why it cannot be read; null for a row that can. */
  readonly problem: string | null
  readonly #values: ReadonlyMap<string, unknown>

  constructor(row: DumpRow) {
    const values = 'values' in row ? row.values : {}
    this.problem = 'problem' in row ? row.problem : null
    this.#values = new Map(Object.entries(values).map(([column, value]) => [plainName(column), value]))
  }

  has(column: string): boolean {
    return this.#values.has(plainName(column))
  }

  /** The first of these columns that is there and not NULL, without blanks around; '' for none. */
  text(...columns: readonly string[]): string {
    return this.raw(...columns).trim()
  }

  raw(...columns: readonly string[]): string {
    for (const column of columns) {
      const value = this.#values.get(plainName(column))
      if (typeof value === 'string') return value
      if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    }
    return ''
  }

  /** Null for what is no whole number of at most 15 digits. */
  whole(column: string): number | null {
    const text = this.text(column)
    return /^-?\d{1,15}$/.test(text) ? Number(text) : null
  }
}

function plainName(column: string): string {
  return column.toLowerCase().replaceAll('_', '')
}

/**
 * Reads a dump of XXL-JOB's database: an SQL script, JSON with a list of rows for each table, or what phpMyAdmin
 * exports as JSON.
 *
 * @throws UsageError for a file that cannot be read, is too long, in another encoding or cut off, has rows of which it
 *   does not say the columns, or has none of the tables
 */
export function readXxlTables(file: string): XxlTables {
  const text = readBounded(file)
  const rowsOf = /^\s*[[{]/.test(text) ? jsonRows(file, text) : sqlRows(text)
  const read = (table: string): readonly XxlRow[] => rowsOf(table).map((row) => new XxlRow(row))
  const { groups, jobs, users } = tableNames
  const tables = { groups: read(groups), jobs: read(jobs), users: read(users) }
  if (tables.groups.length + tables.jobs.length > 0) return tables
  throw new UsageError(`'${file}' has no rows of ${groups} and ${jobs}.`)
}

function sqlRows(text: string): (table: string) => readonly DumpRow[] {
  requireEnd(text)
  const rows = new SqlDump(text, Object.values(tableNames)).read()
  return (table) => rows.get(table) ?? []
}

function jsonRows(file: string, text: string): (table: string) => readonly DumpRow[] {
  const parsed = parseJson(file, text)
  const rowsIn = (table: string, rows: unknown): readonly DumpRow[] => {
    if (Array.isArray(rows)) return rows.map(jsonRow)
    throw new UsageError(`${table} in '${file}' is no list of rows.`)
  }
  if (!Array.isArray(parsed)) {
    return (table) => (Object.hasOwn(parsed, table) ? rowsIn(table, Reflect.get(parsed, table)) : [])
  }
  return (table) => {
    const parts: readonly unknown[] = parsed
    return parts.flatMap((part) =>
      isObject(part) && Reflect.get(part, 'name') === table ? rowsIn(table, Reflect.get(part, 'data')) : [],
    )
  }
}

function jsonRow(row: unknown): DumpRow {
  return isObject(row) ? { values: row } : { problem: 'it is no object' }
}

function parseJson(file: string, text: string): object {
  try {
    return JSON.parse(text) as object
  } catch (error) {
    throw new UsageError(`Cannot read '${file}': ${textOf(error)}`, { cause: error })
  }
}

function readBounded(file: string): string {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const status = fstatSync(descriptor)
      if (!status.isFile()) throw new UsageError(`'${file}' is no file.`)
      if (status.size > fileBytesMax) throw new UsageError(tooLong(file))
      return textOfBytes(file, readFileSync(descriptor))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`Cannot read '${file}': ${textOf(error)}`, { cause: error })
  }
}

/** A sign that cannot be read would be stored as another one. @throws UsageError for what is not in UTF-8 */
function textOfBytes(file: string, bytes: Buffer): string {
  // Without its mark, one of the two bytes of the first sign is zero.
  const isUtf16 = /^(?:\xff\xfe|\xfe\xff|\0.|.\0)/s.test(bytes.toString('latin1', 0, 2))
  if (!isUtf16 && isUtf8(bytes)) return withoutMark(bytes.toString('utf8'))
  throw new UsageError(
    `'${file}' is ${isUtf16 ? 'in UTF-16' : 'not in UTF-8'}. Make it in UTF-8, as with mysqldump's options ` +
      '--default-character-set=utf8mb4 and --result-file=FILE.',
  )
}

function tooLong(file: string): string {
  const tables = Object.values(tableNames).join(', ')
  return `'${file}' has more than ${fileBytesMax / 1024 / 1024} MB. Dump these tables alone: ${tables}.`
}
