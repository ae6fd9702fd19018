import { InvalidArgumentError } from '../../core/errors.ts'
import { readTypedKey } from '../wire/typed-key.ts'

/** One condition of a filter, as in `late>5s`. */
export interface FilterTerm {
  readonly name: string
  readonly operator: string
  readonly value: string
}

const termsMax = 20
const pattern = /\s*(?:(\w+(?:\.[^\s:<>="]+)?)(:|>=|<=|>|<|=)("(?:[^"\\]|\\.)*"|[^\s"]+))/y

/**
 * Reads the terms of a filter. Values with blanks stand in double quotes.
 *
 * @throws InvalidArgumentError for what is no term, saying where
 */
export function filterTerms(of: string, text: string): readonly FilterTerm[] {
  const terms: FilterTerm[] = []
  pattern.lastIndex = 0
  for (let at = 0; text.slice(at).trim() !== ''; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) throw wrongFilter(of, `nothing that can be read at character ${at + 1}`)
    if (terms.length === termsMax) throw wrongFilter(of, `more than ${termsMax} terms`)
    const [, name = '', operator = '', value = ''] = match
    terms.push({ name, operator, value: unquoted(value) })
  }
  return terms
}

/** `group/name`, as {@link readTypedKey} reads it; null and the name where there is no slash. */
export function splitKey(of: string, value: string): [group: string | null, name: string] {
  const { group, name } = readTypedKey(value)
  if (name.trim() === '' || group?.trim() === '')
    throw wrongFilter(of, `the key '${value}'; write group/name`)
  return [group, name]
}

export function wrongFilter(of: string, found: string): InvalidArgumentError {
  return new InvalidArgumentError('filter', `The filter of ${of} has ${found}.`)
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}
