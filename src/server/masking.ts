import { hidden, isSecretName, withoutSecrets } from '../core/secrets.ts'

type Data = Readonly<Record<string, unknown>>

/**
 * Job data as people may see it: `***` for values under keys that look secret, at any depth, and addresses without
 * their passwords.
 */
export function masked(data: Data): Data {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, maskedEntry(key, value)]))
}

function maskedEntry(key: string, value: unknown): unknown {
  return isSecretName(key) && value !== null ? hidden : maskedValue(value)
}

function maskedValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value)
  if (Array.isArray(value)) return value.map(maskedValue)
  return isData(value) ? masked(value) : value
}

/**
 * Data that came back from somebody who saw it masked: what is as it was shown stands for what is stored, so that
 * saving a form does not overwrite a password with `***`.
 */
export function unmasked(data: Data, stored: Data): Data {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, unmaskedValue(value, stored[key], key)]),
  )
}

function unmaskedValue(value: unknown, stored: unknown, key: string | null): unknown {
  if (stored === undefined) return value
  const shown = key === null ? maskedValue(stored) : maskedEntry(key, stored)
  if (typeof value === 'string') return value === shown ? stored : value
  if (Array.isArray(value) && Array.isArray(stored)) {
    return value.map((each: unknown, index) => unmaskedValue(each, stored[index], null))
  }
  return isData(value) && isData(stored) ? unmasked(value, stored) : value
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
