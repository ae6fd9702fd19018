import { z } from 'zod'
import { isObject } from '../../core/options.ts'

type JsonSchema = z.core.JSONSchema.JSONSchema

/**
 * Rows as CSV (RFC 4180), nested objects flattened to columns `key.group`; instants stay epoch milliseconds. The
 * columns of `answer`, the schema of the list, are always there, so that pages of a list have the same ones and a list
 * without items has its header.
 */
export function csvOf(items: readonly unknown[], answer: z.ZodType): string {
  const schema = z.toJSONSchema(answer, { io: 'output', unrepresentable: 'any' })
  const known = new Set(columnsIn('', itemSchema(schema)))
  const rows = items.map((item) => flattened('', item))
  const found = rows.flatMap((row) => [...row.keys()])
  // Null in place of an object has that object's columns already.
  const isGroup = (column: string): boolean => [...known].some((each) => each.startsWith(`${column}.`))
  const columns = [...new Set([...known, ...found.filter((column) => known.has(column) || !isGroup(column))])]
  const lines = rows.map((row) => columns.map((column) => cell(row.get(column) ?? '')).join(','))
  return [columns.map(cell).join(','), ...lines, ''].join('\r\n')
}

/** The columns of what a schema allows, in the order of the schema; those of free objects are not known. */
function columnsIn(path: string, schema: JsonSchema | undefined): string[] {
  if (schema === undefined) return []
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  if (branches.length > 0) {
    const columns = new Set(branches.flatMap((branch) => columnsIn(path, asSchema(branch))))
    // An object or null: no column for null alone.
    if (columns.size > 1) columns.delete(path)
    return [...columns]
  }
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([name, inner]) =>
      columnsIn(path === '' ? name : `${path}.${name}`, asSchema(inner)),
    )
  }
  return schema.type === 'object' || path === '' ? [] : [path]
}

function itemSchema(list: JsonSchema): JsonSchema | undefined {
  const items = asSchema(list.properties?.['items'])?.items
  return Array.isArray(items) ? undefined : asSchema(items)
}

function asSchema(schema: JsonSchema | boolean | undefined): JsonSchema | undefined {
  return typeof schema === 'object' ? schema : undefined
}

function flattened(path: string, value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null) {
    return new Map([[path, value === null || value === undefined ? '' : textOf(value)]])
  }
  if (Array.isArray(value)) return new Map([[path, value.map(elementText).join(' ')]])
  const entries = Object.entries(value).flatMap(([name, inner]) => [
    ...flattened(path === '' ? name : `${path}.${name}`, inner),
  ])
  return new Map(entries)
}

function elementText(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : textOf(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? guarded(value) : String(value)
}

/** Spreadsheets take a text that begins like this for a formula. */
function guarded(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
