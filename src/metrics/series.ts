import type { Reading } from './metrics-backend.ts'

/** A number that is added to. */
export interface Cell {
  value: number
}

const separator = '\u0000'

/** Values that are told apart by their labels, each made when it is first asked for. */
export class Series<Value> {
  readonly #byLabels = new Map<string, { readonly labels: readonly string[]; readonly value: Value }>()
  readonly #make: (labels: readonly string[]) => Value

  constructor(make: (labels: readonly string[]) => Value) {
    this.#make = make
  }

  of(...labels: readonly string[]): Value {
    const id = labels.length === 1 ? (labels[0] ?? '') : labels.join(separator)
    let found = this.#byLabels.get(id)
    if (found === undefined) {
      found = { labels, value: this.#make(labels) }
      this.#byLabels.set(id, found)
    }
    return found.value
  }

  all(): readonly { readonly labels: readonly string[]; readonly value: Value }[] {
    return [...this.#byLabels.values()]
  }
}

export function readingsOf(series: Series<Cell>): readonly Reading[] {
  return series.all().map(({ labels, value: { value } }) => ({ labels, value }))
}

/** What stands for the groups beyond the limit. */
const otherGroup = 'other'

/** Keeps the number of job groups that are told apart within a limit: the first ones keep their names. */
export class BoundedGroups {
  readonly #names = new Set<string>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  labelOf(group: string): string {
    if (this.#names.has(group)) return group
    if (this.#names.size >= this.#max) return otherGroup
    this.#names.add(group)
    return group
  }
}
