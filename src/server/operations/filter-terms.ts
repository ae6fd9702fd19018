import { InvalidArgumentError } from '../../core/errors.ts'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { readTypedKey } from '../wire/typed-key.ts'

/** One condition of a filter, as in `late>5s`. */
export interface FilterTerm {
  readonly name: string
  readonly operator: string
  readonly value: string
}

const termsMax = 20
const oneTerm = /\s*(?:(\w+(?:\.[^\s:<>="]+)?)(:|>=|<=|>|<|=)("(?:[^"\\]|\\.)*"|[^\s"]+))/

/**
 * Reads the terms of a filter. Values with blanks stand in double quotes.
 *
 * @param beginnings what terms begin with, as in `job:`
 * @param repeatable what may be asked for more than once; a store takes everything else once
 * @throws InvalidArgumentError for what is no term, saying where, and for a second term of one kind
 */
export function filterTerms(
  of: string,
  text: string,
  {
    beginnings,
    repeatable,
  }: { readonly beginnings: readonly string[]; readonly repeatable: readonly string[] },
): readonly FilterTerm[] {
  const terms: FilterTerm[] = []
  const kinds = new Set<string>()
  const pattern = new RegExp(oneTerm, 'y')
  for (let at = 0; text.slice(at).trim() !== ''; at = pattern.lastIndex) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null)
      throw wrongFilter(of, `${unreadable(text, at)}; terms begin with ${beginnings.join(', ')}`)
    if (terms.length === termsMax) throw wrongFilter(of, `more than ${termsMax} terms`)
    const [, name = '', operator = '', value = ''] = match
    const kind = name.replace(/\..*/s, '')
    if (kinds.has(kind) && !repeatable.includes(kind))
      throw wrongFilter(of, `'${kind}' twice; it can be asked for once`)
    kinds.add(kind)
    terms.push({ name, operator, value: unquoted(value) })
  }
  return terms
}

/** What stands where a term should, as far as it is something. */
function unreadable(text: string, at: number): string {
  const [, word = '', operator = ''] = /^\s*([^\s:<>="]*)([:<>=]*)/.exec(text.slice(at)) ?? []
  if (word === '') return `nothing that can be read at character ${at + 1}`
  return operator === '' ? `'${word}' by itself` : `'${word}${operator}' without a value that can be read`
}

/** What all filters are about. */
interface Subject {
  readonly jobKey: JobKey | null
  readonly triggerKey: TriggerKey
}

/** The terms that all filters have. */
export const subjectTerms = ['job', 'trigger', 'group'] as const

/** Adds one of {@link subjectTerms}: a key is `group/name`, or a name in any group. False for another term. */
export function addSubject(
  of: string,
  { name: term, value }: FilterTerm,
  query: { jobKey?: JobKey; triggerKey?: TriggerKey; jobGroup?: string },
  rest: ((item: never) => boolean)[],
): boolean {
  if (term === 'group') query.jobGroup = value
  if (term !== 'job' && term !== 'trigger') return term === 'group'
  const { group, name } = readTypedKey(value)
  if (name.trim() === '' || group?.trim() === '')
    throw wrongFilter(of, `the key '${value}'; write group/name`)
  if (group === null) rest.push((item: Subject) => item[`${term}Key`]?.name === name)
  else if (term === 'job') query.jobKey = new JobKey(name, group)
  else query.triggerKey = new TriggerKey(name, group)
  return true
}

export function wrongFilter(of: string, found: string): InvalidArgumentError {
  return new InvalidArgumentError('filter', `The filter of ${of} has ${found}.`)
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}
