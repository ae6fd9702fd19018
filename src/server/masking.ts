import { InvalidArgumentError } from '../core/errors.ts'
import { copyJobData } from '../core/job-data-map.ts'
import { hasHidden, hidden, isSecretName, withHidden } from '../core/secrets.ts'

type Data = Readonly<Record<string, unknown>>

/**
 * Job data as people may see it: `***` for values under keys that look secret, at any depth, and in addresses for users
 * and passwords.
 */
export function masked(data: Data): Data {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, maskedEntry(key, value)]))
}

function maskedEntry(key: string, value: unknown): unknown {
  return isSecretName(key) && value !== null ? hidden : maskedValue(value)
}

function maskedValue(value: unknown): unknown {
  if (typeof value === 'string') return withHidden(value)
  if (Array.isArray(value)) return value.map(maskedValue)
  return isData(value) ? masked(value) : value
}

/**
 * Data that came back from somebody who saw it masked: what is as it was shown stands for what is stored, so that
 * saving a form does not overwrite a password with `***`.
 *
 * @param field Where the data is, for the message.
 * @throws InvalidArgumentError ERR_INVALID_JOB_DATA; for `***` that stands for nothing, or not for certain: it would be
 *   stored as the secret
 */
export function unmasked(data: Data, stored: Data, field = 'jobDataMap'): Data {
  // What is nested too deep is refused before it is followed.
  return unmaskedData(copyJobData('the request', data), stored, { field, isSecret: false })
}

interface Place {
  readonly field: string
  /** Whether all that is there is taken for a secret. */
  readonly isSecret: boolean
}

interface Stored {
  /** Undefined for nothing. */
  readonly kept: unknown
  /** The same as it was shown. */
  readonly shown: unknown
}

const nothing: Stored = { kept: undefined, shown: undefined }

function unmaskedData(data: Data, stored: Data, { field, isSecret }: Place): Data {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      const kept = Object.hasOwn(stored, key) ? stored[key] : undefined
      const there = kept === undefined ? nothing : { kept, shown: maskedEntry(key, kept) }
      const place = { field: `${field}.${key}`, isSecret: isSecret || isSecretName(key) }
      return [key, unmaskedValue(value, there, place)]
    }),
  )
}

function unmaskedValue(value: unknown, { kept, shown }: Stored, place: Place): unknown {
  if (typeof value === 'string') {
    if (value === shown) return kept
    if ((place.isSecret && value === hidden) || hasHidden(value)) throw standsForNothing(place.field)
    return value
  }
  if (Array.isArray(value)) return unmaskedList(value, Array.isArray(kept) ? kept : [], place)
  return isData(value) ? unmaskedData(value, isData(kept) ? kept : {}, place) : value
}

/** An element may have moved, so the stored one is found by what it looks like, and not by where it stands. */
function unmaskedList(list: readonly unknown[], kept: readonly unknown[], place: Place): readonly unknown[] {
  const shown = kept.map((each) => sortedText(maskedValue(each)))
  if (kept.length > 0 && sortedText(list) === `[${shown.join(',')}]`) return kept
  const alike = new Map<string, unknown>()
  for (const [index, text] of shown.entries()) {
    const other = alike.get(text)
    const isSame = !alike.has(text) || sortedText(other) === sortedText(kept[index])
    // Which one of two it stands for cannot be told.
    alike.set(text, isSame ? kept[index] : undefined)
  }
  return list.map((value, index) => {
    const found = alike.size === 0 ? undefined : alike.get(sortedText(value))
    if (found !== undefined) return found
    return unmaskedValue(value, nothing, { ...place, field: `${place.field}[${index}]` })
  })
}

/** JSON that is the same in whatever order the keys are. */
function sortedText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isData(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  )
}

function standsForNothing(field: string): InvalidArgumentError {
  return new InvalidArgumentError(
    field,
    `'${field}' has '${hidden}', which stands for a stored value that is masked: there is none, or it cannot be told ` +
      'which. Send the value itself; an export with secrets=true has it.',
  )
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
