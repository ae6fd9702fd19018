import { InvalidArgumentError } from './errors.ts'
import { withoutSecrets } from './secrets.ts'

/** Refuses keys that an options object does not know, naming the nearest one that it does. */
export function refuseUnknownKeys(what: string, options: object, known: readonly string[]): void {
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue
    const nearest = nearestName(key, known)
    const hint = nearest === null ? `Known: ${known.join(', ')}.` : `Did you mean '${nearest}'?`
    throw new InvalidArgumentError(key, `${what}: unknown option '${key}'. ${hint}`, 'ERR_INVALID_OPTION')
  }
}

/** Checks that an option is a whole number within its bounds; the message names option, bounds and value. */
export function requireInteger(
  what: string,
  field: string,
  value: unknown,
  bounds: { min: number; max?: number },
): number {
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER
  if (typeof value !== 'number' || !Number.isInteger(value) || value < bounds.min || value > max) {
    const range = bounds.max === undefined ? `of at least ${bounds.min}` : `from ${bounds.min} to ${max}`
    throw new InvalidArgumentError(
      field,
      `${what}: '${field}' must be a whole number ${range}, got ${describeValue(value)}.`,
      'ERR_INVALID_OPTION',
    )
  }
  return value
}

/** A short, safe rendering of any value for an error message. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    // A text in the wrong place may be the address of a database.
    const shown = withoutSecrets(value.slice(0, 10_000))
    return shown.length > 60 ? `'${shown.slice(0, 60)}...'` : `'${shown}'`
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null) {
    return String(value)
  }
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}

/** The known name that a mistyped one most likely meant, or null when none is near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: string | null = null
  let bestDistance = 4
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
