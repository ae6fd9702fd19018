/** A request that cannot be understood; the message is what the sender is answered. */
export class MalformedRequest extends Error {}

/** The number that a field holds, also as text; NaN for anything else. Never throws, as `Number` does for objects. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

/**
 * Reads fields as the senders write them: absent fields have a default, unknown ones do not matter, and numbers may
 * come as text.
 */
export class MessageReader {
  readonly #fields: object

  /** @throws MalformedRequest for what is no JSON object */
  constructor(body: string) {
    let parsed: unknown
    try {
      parsed = JSON.parse(body)
    } catch {
      throw new MalformedRequest('invalid request, the body is no JSON.')
    }
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new MalformedRequest('invalid request, the body is no JSON object.')
    }
    this.#fields = parsed
  }

  has(name: string): boolean {
    const value: unknown = Reflect.get(this.#fields, name)
    return value !== undefined && value !== null
  }

  text(name: string): string | null {
    const value: unknown = Reflect.get(this.#fields, name)
    if (typeof value === 'string') return value
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
  }

  /** @throws MalformedRequest for what is no whole number that JavaScript holds exactly, and for an absent id */
  whole(name: string, absent: number | null = null): number {
    const value: unknown = Reflect.get(this.#fields, name)
    if (value === undefined || value === null) {
      if (absent !== null) return absent
      throw new MalformedRequest(`invalid request, ${name} is missing.`)
    }
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number
    throw new MalformedRequest(`invalid request, ${name} is no whole number from -2^53 to 2^53.`)
  }
}
