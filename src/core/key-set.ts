import type { JobKey, TriggerKey } from './key.ts'

/**
 * A set of keys by their value instead of their identity, in the order in which their names came. Like `KeyMap`, it
 * looks at names first, and it makes nothing for a key but its place.
 */
export class KeySet<Key extends JobKey | TriggerKey> {
  /** The key of a name, or those of one name by group. */
  readonly #names = new Map<string, Key | Map<string, Key>>()
  #size = 0

  constructor(keys: Iterable<Key> = []) {
    for (const key of keys) this.add(key)
  }

  get size(): number {
    return this.#size
  }

  has({ group, name }: Key): boolean {
    // Many sets stay empty.
    if (this.#size === 0) return false
    const found = this.#names.get(name)
    return found instanceof Map ? found.has(group) : found?.group === group
  }

  /** False when it is there already. */
  add(key: Key): boolean {
    const { group, name } = key
    const found = this.#names.get(name)
    if (found === undefined) this.#names.set(name, key)
    else if (found instanceof Map) {
      if (found.has(group)) return false
      found.set(group, key)
    } else {
      if (found.group === group) return false
      const namesakes = new Map([[found.group, found]])
      this.#names.set(name, namesakes.set(group, key))
    }
    this.#size++
    return true
  }

  keys(): Key[] {
    const keys: Key[] = []
    for (const found of this.#names.values()) {
      if (found instanceof Map) keys.push(...found.values())
      else keys.push(found)
    }
    return keys
  }
}
