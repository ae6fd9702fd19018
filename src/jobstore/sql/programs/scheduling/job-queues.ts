import type { JobKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'

/** One that waits for its turn with a job. */
export interface Queued<Call> {
  readonly call: Call
  /** Since when it waits, as the caller of {@link JobQueues.run} counts time. */
  readonly sinceMs: number
}

interface Place<Call> extends Queued<Call> {
  readonly onEnd: () => void
}

/**
 * Runs the first of those that wait, the oldest first; answers how many have ended, at least one: the others wait on.
 * `isFirst`: nothing has run for the job since its queue was empty. It does not throw.
 */
type RunTogether<Call> = (
  queued: readonly Queued<Call>[],
  place: { readonly isFirst: boolean },
) => Promise<number>

/**
 * Calls that wait for the lock of a job, a queue for each job. Those at the head wait on the server, together; the
 * others wait here, where it costs nothing, and go together when these have ended.
 */
export class JobQueues<Call> {
  readonly #queues = new KeyMap<JobKey, Place<Call>[]>()
  readonly #runTogether: RunTogether<Call>

  constructor(runTogether: RunTogether<Call>) {
    this.#runTogether = runTogether
  }

  has(key: JobKey): boolean {
    return this.#queues.has(key)
  }

  /** Settles when the call has ended. */
  run(key: JobKey, call: Call, sinceMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const place = { call, sinceMs, onEnd: resolve }
      const queue = this.#queues.get(key)
      if (queue !== undefined) {
        queue.push(place)
        return
      }
      const begun = [place]
      this.#queues.set(key, begun)
      this.#serve(key, begun).catch(reject)
    })
  }

  async #serve(key: JobKey, queue: Place<Call>[]): Promise<void> {
    // One turn of the microtask queue lets calls that begin to wait together gather.
    await Promise.resolve()
    for (let isFirst = true; queue.length > 0; isFirst = false) {
      const ended = await this.#runTogether(queue, { isFirst })
      for (const { onEnd } of queue.splice(0, ended)) onEnd()
    }
    this.#queues.delete(key)
  }
}
