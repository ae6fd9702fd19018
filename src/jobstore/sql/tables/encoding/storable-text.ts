import { escapedForEncoding } from '../../kernel/poor-encoding.ts'

/** A text without characters that no text column can hold; what this database's columns cannot hold is escaped. */
export function storable(text: string): string {
  return escapedForEncoding(text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD'))
}

/** JSON for a text column. */
export function storableJson(value: unknown): string {
  return escapedForEncoding(JSON.stringify(value))
}
