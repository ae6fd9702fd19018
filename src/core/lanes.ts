/** Runs at most so many tasks at a time; further tasks wait for a lane, in the order in which they came. */
export class Lanes {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Runs a task when a lane is free; settles as the task does. */
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
      // The next task takes over the lane, which never becomes free in between.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
