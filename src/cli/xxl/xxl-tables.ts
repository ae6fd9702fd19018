import { closeSync, fstatSync, openSync } from 'node:fs'
import { textOf } from '../../core/thrown-value.ts'
import { UsageError } from '../command.ts'
import { readTextFile } from '../text-file.ts'
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
 * @throws UsageError for a file that cannot be read, is too long or cut off, or has none of the tables
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
  const isRow = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null
  const rowsIn = (value: unknown): readonly DumpRow[] =>
    Array.isArray(value) ? value.filter(isRow).map((values) => ({ values })) : []
  if (!Array.isArray(parsed)) return (table) => rowsIn(Reflect.get(parsed, table))
  return (table) => {
    const parts: readonly unknown[] = parsed
    return parts.flatMap((part) => (isRow(part) && part['name'] === table ? rowsIn(part['data']) : []))
  }
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
      return readTextFile(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`Cannot read '${file}': ${textOf(error)}`, { cause: error })
  }
}

function tooLong(file: string): string {
  const tables = Object.values(tableNames).join(', ')
  return `'${file}' has more than ${fileBytesMax / 1024 / 1024} MB. Dump these tables alone: ${tables}.`
}
