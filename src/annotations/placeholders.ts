import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'

/** Returns the value of a placeholder, or undefined when it has none. */
export type PlaceholderResolver = (name: string) => string | undefined

/** Looks a name up in the environment: as it is, then in capitals (`report.cron` as `REPORT_CRON`). */
export const environmentResolver: PlaceholderResolver = (name) =>
  process.env[name] ?? process.env[name.toUpperCase().replace(/[^A-Z0-9]/g, '_')]

/** How deep defaults may hold placeholders of their own. */
const depthMax = 10

/**
 * Replaces each `${name}` and `${name:default}`; a default may hold placeholders. A value of a resolver is used as it
 * is.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for a name without a value and without a default
 */
export function resolvePlaceholders(
  owner: string,
  field: string,
  text: string,
  resolve: PlaceholderResolver,
  depth = 0,
): string {
  const fail = (problem: string): InvalidArgumentError =>
    new InvalidArgumentError(field, `${owner}: '${field}' ${problem}`, 'ERR_INVALID_OPTION')
  if (depth > depthMax) throw fail(`has placeholders more than ${depthMax} deep in one another.`)
  let resolved = ''
  let at = 0
  for (let start = text.indexOf('${'); start >= 0; start = text.indexOf('${', at)) {
    const end = closingBrace(text, start + 2)
    if (end < 0) throw fail(`has a placeholder that is not closed: ${describeValue(text)}.`)
    const inner = text.slice(start + 2, end)
    const colon = inner.indexOf(':')
    const name = (colon < 0 ? inner : inner.slice(0, colon)).trim()
    const value: unknown = name === '' ? undefined : resolve(name)
    if (value !== undefined && typeof value !== 'string') {
      throw fail(`needs text for placeholder '${name}', but resolve answered ${describeValue(value)}.`)
    }
    if (value === undefined && colon < 0) {
      throw fail(
        `names placeholder '${name}', which has no value. Set it, or write a default: '\${${name}:...}'.`,
      )
    }
    resolved += text.slice(at, start)
    resolved += value ?? resolvePlaceholders(owner, field, inner.slice(colon + 1), resolve, depth + 1)
    at = end + 1
  }
  return resolved + text.slice(at)
}

/** Where the placeholder ends whose inside begins at `from`, or -1. */
function closingBrace(text: string, from: number): number {
  let open = 1
  for (let index = from; index < text.length; index++) {
    if (text.startsWith('${', index)) open += 1
    else if (text[index] === '}') open -= 1
    if (open === 0) return index
  }
  return -1
}
