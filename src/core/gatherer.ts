import { invariant } from './errors.ts'
import { unawaited } from './promises.ts'

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Most items of one call. */
const mostAtOnce = 500

/**
 * Makes one call of many: what comes while a call is under way is handed over together with the next one. When a call
 * with several items fails, each of them is tried alone, so that one does not fail the others.
 */
export class Gatherer<Item, Answer> {
  readonly #call: (items: readonly Item[]) => Promise<readonly Answer[]>
  readonly #beforeNext: () => Promise<void> | null
  readonly #waiting: Waiting<Item, Answer>[] = []
  #isCalling = false

  /** `call` answers in the order of the items. The call after one that answered waits for `beforeNext`, too. */
  constructor(
    call: (items: readonly Item[]) => Promise<readonly Answer[]>,
    beforeNext: () => Promise<void> | null = () => null,
  ) {
    this.#call = call
    this.#beforeNext = beforeNext
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#isCalling) return
      this.#isCalling = true
      unawaited(this.#callWhileSomeWait(), reject)
    })
  }

  async #callWhileSomeWait(): Promise<void> {
    // One turn of the microtask queue lets items that come together gather.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostAtOnce)
      if (!(await this.#settle(batch, batch.length === 1))) {
        for (const each of batch) await this.#settle([each], true)
      }
      await this.#beforeNext()
    }
    this.#isCalling = false
  }

  /** False when the call failed and no caller was told. */
  async #settle(batch: readonly Waiting<Item, Answer>[], isLast: boolean): Promise<boolean> {
    try {
      const answers = await this.#call(batch.map(({ item }) => item))
      invariant(answers.length === batch.length, 'a call answers each of its items')
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      if (!isLast) return false
      for (const { reject } of batch) reject(error)
    }
    return true
  }
}
