import type { SqlValue } from './statement.ts'

/** Conditions of one query with the values that they name. */
export class Conditions {
  readonly texts: string[]
  readonly values: Record<string, SqlValue> = {}

  constructor(...always: readonly string[]) {
    this.texts = [...always]
  }

  /** Adds a condition when all of its values are given. */
  add(condition: string, given: Readonly<Record<string, SqlValue | undefined>>): void {
    const bound: Record<string, SqlValue> = {}
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined) return
      bound[name] = value
    }
    this.texts.push(condition)
    Object.assign(this.values, bound)
  }

  /** Adds the condition that a column has one of some values; null: any. */
  addOneOf(column: string, name: string, wanted: readonly string[] | null): void {
    if (wanted === null) return
    const names = wanted.map((_, index) => `:${name}${String(index)}`)
    const values = Object.fromEntries(wanted.map((value, index) => [`${name}${String(index)}`, value]))
    this.add(names.length === 0 ? 'false' : `${column} IN (${names.join(', ')})`, values)
  }

  get text(): string {
    return this.texts.join(' AND ')
  }
}
