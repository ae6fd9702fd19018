import type { JobCompletion, JobStore } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import { Gate } from '../time/gate.ts'
import type { Notifier } from './notifier.ts'

interface Batch {
  readonly completions: JobCompletion[]
  readonly done: Promise<void>
  readonly resolve: () => void
}

const retryDelayMinMs = 20
const retryDelayMaxMs = 10_000

/**
 * Tells the store about ended executions, many at a time: those that end together are written together, and while a
 * write is under way the next batch gathers. The store is told whatever happens: a failed write is tried again, each
 * completion by itself so that one that cannot be written does not hold up the others.
 */
export class CompletionWriter {
  readonly #store: JobStore
  readonly #notifier: Notifier
  readonly #retryGate: Gate
  #gathering: Batch | null = null
  #writing = false
  #lastChance = false

  constructor(store: JobStore, clock: Clock, notifier: Notifier) {
    this.#store = store
    this.#notifier = notifier
    this.#retryGate = new Gate(clock)
  }

  /** Resolves when the store knows, or when the scheduler is shutting down and the store cannot be told. */
  complete(completion: JobCompletion): Promise<void> {
    if (this.#gathering === null) {
      let resolve: () => void = () => {}
      const done = new Promise<void>((settle) => {
        resolve = settle
      })
      this.#gathering = { completions: [], done, resolve }
      if (!this.#writing) {
        this.#writing = true
        void this.#write()
      }
    }
    this.#gathering.completions.push(completion)
    return this.#gathering.done
  }

  /** From now on a failed write is not tried again: the scheduler shuts down and cannot wait. */
  stopRetrying(): void {
    this.#lastChance = true
    this.#retryGate.wake()
  }

  async #write(): Promise<void> {
    // One turn of the microtask queue lets executions that end together gather.
    await Promise.resolve()
    for (let batch = this.#gathering; batch !== null; batch = this.#gathering) {
      this.#gathering = null
      try {
        await this.#store.triggeredJobsComplete(batch.completions)
      } catch (error) {
        this.#notifier.error('The job store could not be told that executions ended; trying again.', error)
        for (const completion of batch.completions) await this.#writeAlone(completion)
      }
      batch.resolve()
    }
    this.#writing = false
  }

  async #writeAlone(completion: JobCompletion): Promise<void> {
    for (let delayMs = retryDelayMinMs; ; delayMs = Math.min(delayMs * 2, retryDelayMaxMs)) {
      try {
        await this.#store.triggeredJobsComplete([completion])
        return
      } catch (error) {
        if (this.#lastChance) {
          const fire = `firing ${completion.fireInstanceId} of trigger ${completion.trigger.key.toString()}`
          this.#notifier.error(`The job store could not be told that ${fire} ended.`, error)
          return
        }
        await this.#retryGate.wait(delayMs)
      }
    }
  }
}
