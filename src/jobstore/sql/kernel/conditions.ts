import type { SqlValue } from './statement.ts'

/** Conditions with the values that they name. */
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

  get text(): string {
    return this.texts.join(' AND ')
  }
}
