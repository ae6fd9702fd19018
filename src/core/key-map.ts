import type { JobKey, TriggerKey } from './key.ts'

interface Entry<Key, Value> {
  readonly key: Key
  value: Value
  /** Where it stands in the order in which keys were set. */
  readonly place: number
}

/** The entries of one name, by group. */
type Namesakes<Key, Value> = Map<string, Entry<Key, Value>>

/**
 * A map by the value of keys instead of their identity, in the order in which they were set. Names are rarely shared by
 * groups, so most look-ups are one look at the name; a text of both parts, made for each look-up, costs several times
 * as much.
 */
export class KeyMap<Key extends JobKey | TriggerKey, Value> {
  readonly #names = new Map<string, Entry<Key, Value> | Namesakes<Key, Value>>()
  #size = 0
  #nextPlace = 0
  /** Whether several groups ever shared a name: then the order of names is not that of the keys. */
  #hasNamesakes = false

  get size(): number {
    return this.#size
  }
  get(key: Key): Value | undefined {
    return this.#entryOf(key)?.value
  }
  has(key: Key): boolean {
    return this.#entryOf(key) !== undefined
  }
  set(key: Key, value: Value): void {
    const { group, name } = key
    const found = this.#names.get(name)
    if (found instanceof Map) {
      const namesake = found.get(group)
      if (namesake === undefined) found.set(group, this.#newEntry(key, value))
      else namesake.value = value
    } else if (found === undefined) {
      this.#names.set(name, this.#newEntry(key, value))
    } else if (found.key.group === group) {
      found.value = value
    } else {
      this.#hasNamesakes = true
      const namesakes = new Map([[found.key.group, found]])
      namesakes.set(group, this.#newEntry(key, value))
      this.#names.set(name, namesakes)
    }
  }
  delete(key: Key): boolean {
    const { group, name } = key
    const found = this.#names.get(name)
    if (found === undefined) return false
    if (found instanceof Map) {
      if (!found.delete(group)) return false
      if (found.size === 0) this.#names.delete(name)
    } else {
      if (found.key.group !== group) return false
      this.#names.delete(name)
    }
    this.#size--
    return true
  }
  keys(): Key[] {
    return Array.from(this.#entries(), ({ key }) => key)
  }
  values(): Value[] {
    return Array.from(this.#entries(), ({ value }) => value)
  }

  #newEntry(key: Key, value: Value): Entry<Key, Value> {
    this.#size++
    return { key, value, place: this.#nextPlace++ }
  }

  #entryOf({ group, name }: Key): Entry<Key, Value> | undefined {
    // Many maps stay empty.
    if (this.#size === 0) return undefined
    const found = this.#names.get(name)
    if (found instanceof Map) return found.get(group)
    return found?.key.group === group ? found : undefined
  }

  #entries(): Iterable<Entry<Key, Value>> {
    const names = this.#names.values()
    if (!this.#hasNamesakes) return names as Iterable<Entry<Key, Value>>
    const entries: Entry<Key, Value>[] = []
    for (const found of names) {
      if (!(found instanceof Map)) entries.push(found)
      else for (const namesake of found.values()) entries.push(namesake)
    }
    return entries.sort((a, b) => a.place - b.place)
  }
}

/** The entries without those of whose key a later one is. */
export function lastOfEach<Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => JobKey | TriggerKey,
): readonly Entry[] {
  if (entries.length < 2) return entries
  const unique = new KeyMap<JobKey | TriggerKey, Entry>()
  for (const entry of entries) unique.set(keyOf(entry), entry)
  return unique.size === entries.length ? entries : unique.values()
}
