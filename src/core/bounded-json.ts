import { hidden, isSecretName, shownBeginning } from './secrets.ts'
import { beginningOf, cutMark, shortened } from './text-beginning.ts'
import { textOf } from './thrown-value.ts'

/** Objects within objects that are shown; deeper ones are cut. */
const maxDepth = 20

/**
 * The JSON of any value, for people: at most so many characters, `…` at the end where it was cut, `***` for what looks
 * like a secret. Never throws. It reads no more entries of the value than it shows, and none of bytes: it shows how
 * many there are.
 */
export function boundedJson(value: unknown, maxLength: number): string {
  const writer = new BoundedWriter(maxLength)
  writer.value(value, null)
  return writer.isFull ? shortened(writer.text, maxLength) : writer.text
}

class BoundedWriter {
  readonly #maxLength: number
  readonly #ancestors: object[] = []
  text = ''

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  get isFull(): boolean {
    return this.text.length > this.#maxLength
  }

  value(value: unknown, key: string | null): void {
    try {
      this.#write(value, key)
    } catch (error) {
      this.#string(`unreadable: ${textOf(error)}`)
    }
  }

  #write(value: unknown, key: string | null): void {
    if (key !== null && isSecretName(key) && value !== null) this.#string(hidden)
    else if (typeof value === 'string') this.#string(value)
    else if (typeof value === 'bigint') this.#string(String(value))
    else if (typeof value === 'number') this.text += Number.isFinite(value) ? String(value) : 'null'
    else if (typeof value === 'boolean') this.text += String(value)
    else if (typeof value === 'object' && value !== null) this.#object(value, key)
    else this.text += 'null'
  }

  #string(value: string): void {
    this.text += JSON.stringify(shownBeginning(value, this.#maxLength))
  }

  #object(value: object, key: string | null): void {
    if (this.#ancestors.includes(value)) {
      this.#string('circular')
      return
    }
    if (this.#ancestors.length >= maxDepth) {
      this.#string(cutMark)
      return
    }
    const byteLength = byteLengthOf(value)
    if (byteLength !== null) {
      this.#string(`${kindOf(value)} of ${byteLength} bytes`)
      return
    }
    this.#ancestors.push(value)
    try {
      if (hasOwnJson(value)) this.#write(value.toJSON(key ?? ''), key)
      else if (Array.isArray(value)) this.#array(value)
      else if (value instanceof Error) this.#string(textOf(value))
      // Its entries are its characters, as many keys as it has.
      else if (value instanceof String) this.#string(String(value))
      else this.#entries(value)
    } finally {
      this.#ancestors.pop()
    }
  }

  #array(value: readonly unknown[]): void {
    this.text += '['
    for (let index = 0; index < value.length && !this.isFull; index++) {
      if (index > 0) this.text += ','
      this.value(value[index], null)
    }
    this.text += ']'
  }

  #entries(value: object): void {
    this.text += '{'
    let separator = ''
    for (const key in value) {
      if (this.isFull) break
      if (!Object.hasOwn(value, key)) continue
      const before = this.text
      this.text += `${separator}${JSON.stringify(beginningOf(key, this.#maxLength))}:`
      try {
        const entry: unknown = Reflect.get(value, key)
        if (entry === undefined || typeof entry === 'function' || typeof entry === 'symbol') {
          this.text = before
          continue
        }
        this.value(entry, key)
      } catch (error) {
        this.#string(`unreadable: ${textOf(error)}`)
      }
      separator = ','
    }
    this.text += '}'
  }
}

/** How many bytes a buffer or a view of one has; null for anything else. Their JSON would be an entry for each. */
function byteLengthOf(value: object): number | null {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength
  return value instanceof SharedArrayBuffer ? value.byteLength : null
}

/** Such as `Uint8Array`, also for a `Buffer`. */
function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

function hasOwnJson(value: object): value is { toJSON(key: string): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}
