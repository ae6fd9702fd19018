/** Rows as CSV (RFC 4180), nested objects flattened to columns `key.group`; instants stay epoch milliseconds. */
export function csvOf(items: readonly unknown[]): string {
  const rows = items.map((item) => flattened('', item))
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const lines = rows.map((row) => columns.map((column) => cell(row.get(column) ?? '')).join(','))
  return [columns.map(cell).join(','), ...lines, ''].join('\r\n')
}

function flattened(path: string, value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null) {
    return new Map([[path, value === null || value === undefined ? '' : textOf(value)]])
  }
  if (Array.isArray(value)) return new Map([[path, value.map(textOf).join(' ')]])
  const entries = Object.entries(value).flatMap(([name, inner]) => [
    ...flattened(path === '' ? name : `${path}.${name}`, inner),
  ])
  return new Map(entries)
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
