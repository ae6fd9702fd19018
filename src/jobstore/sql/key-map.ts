import type { JobKey, TriggerKey } from '../../core/key.ts'

/** A map by the value of keys instead of their identity. */
export class KeyMap<Key extends JobKey | TriggerKey, Value> {
  readonly #entries = new Map<string, [Key, Value]>()

  get size(): number {
    return this.#entries.size
  }
  get(key: Key): Value | undefined {
    return this.#entries.get(textOf(key))?.[1]
  }
  has(key: Key): boolean {
    return this.#entries.has(textOf(key))
  }
  set(key: Key, value: Value): void {
    this.#entries.set(textOf(key), [key, value])
  }
  delete(key: Key): boolean {
    return this.#entries.delete(textOf(key))
  }
  keys(): Key[] {
    return Array.from(this.#entries.values(), ([key]) => key)
  }
  values(): Value[] {
    return Array.from(this.#entries.values(), ([, value]) => value)
  }
}

/** No key that a database can hold has a NUL in it. */
function textOf(key: JobKey | TriggerKey): string {
  return `${key.group}\0${key.name}`
}
