/** Lets so many tasks run at a time; the others wait for their turn, in the order in which they came. */
export class Lanes {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Runs a task when a lane is free; answers as it does. */
  async run<Answer>(task: () => Promise<Answer>): Promise<Answer> {
    if (this.#free > 0) this.#free--
    else {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
    try {
      return await task()
    } finally {
      // The lane goes from hand to hand.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
