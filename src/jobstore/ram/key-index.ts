import type { GroupMatcher } from '../../core/matcher.ts'

interface KeyLike {
  readonly name: string
  readonly group: string
}

/** A map from keys to values, by group and then by name, so that a look-up makes no text. */
export class KeyIndex<Value> {
  readonly #groups = new Map<string, Map<string, Value>>()
  // Keys of one group tend to come one after the other.
  #lastGroup: string | null = null
  #lastNames: Map<string, Value> | undefined = undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: KeyLike): Value | undefined {
    return this.#namesOf(key.group)?.get(key.name)
  }

  has(key: KeyLike): boolean {
    return this.get(key) !== undefined
  }

  /** Adds a value under a new key. */
  add(key: KeyLike, value: Value): void {
    let names = this.#namesOf(key.group)
    if (names === undefined) {
      names = new Map()
      this.#groups.set(key.group, names)
      this.#lastNames = names
    }
    names.set(key.name, value)
    this.#size++
  }

  delete(key: KeyLike): boolean {
    const names = this.#namesOf(key.group)
    if (names?.delete(key.name) !== true) return false
    if (names.size === 0) {
      this.#groups.delete(key.group)
      this.#lastNames = undefined
    }
    this.#size--
    return true
  }

  clear(): void {
    this.#groups.clear()
    this.#lastNames = undefined
    this.#size = 0
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group)
  }

  /** The groups that are not empty, in no order. */
  groups(matcher?: GroupMatcher): string[] {
    if (matcher?.operator === 'equals') return this.hasGroup(matcher.operand) ? [matcher.operand] : []
    const groups = [...this.#groups.keys()]
    return matcher === undefined ? groups : groups.filter((group) => matcher.isMatchGroup(group))
  }

  /** How many values each group has, in no order. */
  groupCounts(): { readonly group: string; readonly count: number }[] {
    return Array.from(this.#groups, ([group, names]) => ({ group, count: names.size }))
  }

  /** The entries of one group, as name and value. */
  entriesOf(group: string): Iterable<[string, Value]> {
    return this.#groups.get(group) ?? []
  }

  *values(matcher?: GroupMatcher): Generator<Value, void> {
    for (const group of this.groups(matcher)) yield* this.#groups.get(group)?.values() ?? []
  }

  #namesOf(group: string): Map<string, Value> | undefined {
    if (group !== this.#lastGroup) {
      this.#lastGroup = group
      this.#lastNames = this.#groups.get(group)
    }
    return this.#lastNames
  }
}
