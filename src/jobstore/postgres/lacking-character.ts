import type { EncodingTries, LackingCharacter } from '../sql/kernel/poor-encoding.ts'
import { DatabaseFailure } from './postgres-errors.ts'

/** The SQLSTATE of a character that the server cannot turn into one of the database's encoding. */
const untranslatable = '22P05'
const bytesOfCharacter = /0x[0-9a-f]{2}(?: 0x[0-9a-f]{2})*/
/** PostgreSQL's names of encodings; its message may be in any language. */
const encodings = /\b[A-Z][A-Z0-9_]{3,}\b/g

export function isUntranslatable({ sqlState }: DatabaseFailure): boolean {
  return sqlState === untranslatable
}

function lackingCharacter({ message }: DatabaseFailure): LackingCharacter {
  const bytes = bytesOfCharacter.exec(message)?.[0].split(' ').map(Number) ?? []
  const encoding = message.match(encodings)?.findLast((name) => name !== 'UTF8')
  // No text that was bound holds a NUL.
  return { character: Buffer.from(bytes).toString('utf8') || '\0', encoding: encoding ?? null }
}

/** Latin-1 and its kin are common, so what they hold is looked for at first. */
const lookedFor: readonly RegExp[] = [/[^\0-\xff]/gu, /[^\0-\x7f]/gu]

/**
 * What a statement that only reads looks for in its further tries; null when there is none left. A text with a
 * character that the database lacks is in no column. DEL stands for it, which JSON may hold as well.
 */
export function withoutLacking<Value>(
  values: readonly Value[],
  tries: number,
): readonly (Value | string)[] | null {
  const lacking = lookedFor[tries]
  if (lacking === undefined) return null
  return values.map((value) => (typeof value === 'string' ? value.replace(lacking, '\x7f') : value))
}

/** Whether a transaction is worth another try, with characters escaped that the database's encoding lacks. */
export function isWorthEscapes(error: unknown, tries: EncodingTries): boolean {
  return error instanceof DatabaseFailure && isUntranslatable(error) && tries.refused(lackingCharacter(error))
}
