/** A list from whose front things are taken, and where they can be put back. Each step costs the same at any length. */
export class SendOrder<Item> {
  /** The front, the first one last. */
  #front: Item[] = []
  #back: Item[] = []

  get size(): number {
    return this.#front.length + this.#back.length
  }

  get first(): Item | undefined {
    this.#turn()
    return this.#front.at(-1)
  }

  takeFirst(): Item | undefined {
    this.#turn()
    return this.#front.pop()
  }

  add(items: readonly Item[]): void {
    for (const item of items) this.#back.push(item)
  }

  putBack(items: readonly Item[]): void {
    for (const item of items.toReversed()) this.#front.push(item)
  }

  #turn(): void {
    if (this.#front.length > 0) return
    this.#front = this.#back.reverse()
    this.#back = []
  }
}
