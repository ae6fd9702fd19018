/** Runs at most so many tasks at a time; further tasks wait for a lane, in the order in which they came. */
export class Lanes {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /**
   * Runs a task when a lane is free; settles as the task does. When the signal is aborted before, it rejects with the
   * reason of that, and the task does not run.
   */
  async run<Answer>(task: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    try {
      return await task()
    } finally {
      // The next task takes over the lane, which never becomes free in between.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onLane = (): void => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(onLane), 1)
        reject(signal?.reason as Error)
      }
      this.#waiting.push(onLane)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }
}
