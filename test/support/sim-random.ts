import { seededIds } from '../../src/core/ids.ts'

/** Repeatable choices for simulations: the same seed makes the same choices. */
export class SimRandom {
  readonly #random: () => number

  constructor(seed: number) {
    const ids = seededIds(seed)
    this.#random = () => ids.random()
  }

  /** A stream of its own, so that one part of a simulation does not disturb the choices of another. */
  fork(): SimRandom {
    return new SimRandom(Math.floor(this.#random() * 2 ** 32))
  }

  /** A number in [0, 1). */
  next(): number {
    return this.#random()
  }

  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.#random() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.#random() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#random() * items.length)]
    if (item === undefined) throw new Error('Nothing to pick from.')
    return item
  }

  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights)
    let rest = this.#random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      rest -= weight
      if (rest < 0) return name as Name
    }
    return (entries[entries.length - 1] as [Name, number])[0]
  }
}
