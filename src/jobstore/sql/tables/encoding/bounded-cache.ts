/** Keeps the values of the most recent keys; when it is full, the oldest is dropped. */
export class BoundedCache<Value> {
  readonly #values = new Map<string, Value>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    if (this.#values.size >= this.#capacity && !this.#values.has(key)) {
      for (const oldest of this.#values.keys()) {
        this.#values.delete(oldest)
        break
      }
    }
    this.#values.set(key, value)
  }
}
