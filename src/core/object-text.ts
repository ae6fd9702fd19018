import { hidden, isSecretName, shownBeginning } from './secrets.ts'
import { cutMark, shortened } from './text-beginning.ts'

/** The length of the whole text, and how much is shown of a text in the object. */
const lengthMax = 500
/** Entries that are read, and objects within objects. */
const [entriesMax, depthMax] = [50, 4]

/**
 * What an object that somebody threw has, as JSON of at most some hundred characters, with `***` for what looks like a
 * secret. Calls neither getters nor `toJSON`: an error is told without running the code of a job once more. Such as
 * `[object Map]` for what keeps its content elsewhere, or shows nothing.
 */
export function objectText(value: object): string {
  return shortened(new ObjectReader().object(value), lengthMax)
}

class ObjectReader {
  readonly #ancestors: object[] = []
  #left = entriesMax

  object(value: object): string {
    const kind = Object.prototype.toString.call(value)
    const isList = Array.isArray(value)
    if (!isList && kind !== '[object Object]') return kind
    // A list may have millions of entries, and all of its keys would be made.
    const keys = isList ? firstKeys(value) : Object.keys(value)
    const entries: string[] = []
    this.#ancestors.push(value)
    try {
      for (const key of keys) {
        if (this.#left === 0) {
          entries.push(cutMark)
          break
        }
        const text = this.#entry(value, key)
        if (text !== null) entries.push(isList ? text : `${JSON.stringify(key)}:${text}`)
      }
    } finally {
      // A proxy among the entries of another one may throw.
      this.#ancestors.pop()
    }
    if (entries.length === 0) return kind
    return isList ? `[${entries.join(',')}]` : `{${entries.join(',')}}`
  }

  /** Null for what is left out: accessors, functions, and what JSON leaves out as well. */
  #entry(owner: object, key: string): string | null {
    this.#left--
    const value: unknown = Object.getOwnPropertyDescriptor(owner, key)?.value
    if (value === undefined || typeof value === 'function') return null
    if (value === null) return 'null'
    if (isSecretName(key)) return JSON.stringify(hidden)
    if (typeof value === 'string') return shownText(value)
    if (typeof value === 'object') return this.#nested(value)
    const isShown = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
    return isShown ? String(value) : null
  }

  #nested(value: object): string {
    if (this.#ancestors.includes(value)) return '"circular"'
    if (this.#ancestors.length >= depthMax) return JSON.stringify(cutMark)
    try {
      // The message of an error is a field of its own that is not listed with the others.
      const message: unknown = Object.getOwnPropertyDescriptor(value, 'message')?.value
      if (typeof message === 'string') return shownText(message)
      const text = this.object(value)
      return text.startsWith('[object ') ? JSON.stringify(text) : text
    } catch {
      // A proxy, whose traps may throw.
      return '"unreadable"'
    }
  }
}

function firstKeys({ length }: readonly unknown[]): readonly string[] {
  return Array.from({ length: Math.min(length, entriesMax + 1) }, (_, index) => String(index))
}

function shownText(text: string): string {
  return JSON.stringify(shownBeginning(text, lengthMax))
}
