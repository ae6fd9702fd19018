import type { JobKey, TriggerKey } from './key.ts'

/** A map by the value of keys instead of their identity, in the order in which they were set. */
export class KeyMap<Key extends JobKey | TriggerKey, Value> {
  readonly #entries = new Map<string, [Key, Value]>()

  get size(): number {
    return this.#entries.size
  }
  get(key: Key): Value | undefined {
    // Many maps stay empty, and the text costs more than the look-up.
    return this.#entries.size === 0 ? undefined : this.#entries.get(textOf(key))?.[1]
  }
  has(key: Key): boolean {
    return this.#entries.size > 0 && this.#entries.has(textOf(key))
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

/** Different keys have different texts, as the length says where the group ends. */
function textOf({ group, name }: JobKey | TriggerKey): string {
  return `${group.length} ${group}${name}`
}
