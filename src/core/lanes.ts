type OnWait = (giveUp: (error: Error) => void) => () => void

/** Runs at most so many tasks at a time; further tasks wait for a lane, in the order in which they came. */
export class Lanes {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Whether tasks wait for a lane. */
  get isCrowded(): boolean {
    return this.#waiting.length > 0
  }

  /**
   * Runs a task when a lane is free; settles as the task does.
   *
   * @param onWait called where the task has to wait, with what ends the wait: then the task does not run. Answers what
   *   is to be done when it has a lane
   */
  async run<Answer>(task: () => Promise<Answer>, onWait?: OnWait): Promise<Answer> {
    if (this.#free > 0) this.#free--
    else await this.#wait(onWait)
    try {
      return await task()
    } finally {
      // The next task takes over the lane, which never becomes free in between.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #wait(onWait: OnWait | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onLane = (): void => {
        onEnd?.()
        resolve()
      }
      this.#waiting.push(onLane)
      const onEnd = onWait?.((error) => {
        this.#waiting.splice(this.#waiting.indexOf(onLane), 1)
        reject(error)
      })
    })
  }
}
