import { postgresDriver } from './postgres-driver.ts'

export type ColumnParser = (value: string) => unknown

/** Type numbers (OIDs) of built-in types. */
const { BOOL, BYTEA, INT2, INT4 } = { BOOL: 16, BYTEA: 17, INT2: 21, INT4: 23 }
const parsers: ReadonlyMap<number, ColumnParser> = new Map<number, ColumnParser>([
  [BOOL, (value) => value === 't'],
  [BYTEA, toBytes],
  [INT2, Number],
  [INT4, Number],
])
export const asText: ColumnParser = (value) => value

/** Parsers of this library only: the user's global ones (`pg.types.setTypeParser`) must not change what rows hold. */
export function parserOf(typeId: number): ColumnParser {
  return parsers.get(typeId) ?? asText
}

function toBytes(value: string): unknown {
  if (value.startsWith('\\x')) return Buffer.from(value.slice(2), 'hex')
  // The `escape` form of bytea_output.
  const { types: theirs } = postgresDriver()
  const parse = theirs.getTypeParser(theirs.builtins.BYTEA, 'text') as ColumnParser
  return parse(value)
}
