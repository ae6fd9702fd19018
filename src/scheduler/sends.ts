import type { Logger } from '../core/logger.ts'
import type { RemoteJobHooks } from '../jobs/remote-job.ts'
import type { Runnable } from '../threadpool/thread-pool.ts'

/** Runs sends of remote jobs beside the slots of the pool, as many at one time as their definitions allow. */
export class Sends {
  readonly #logger: Logger
  readonly #running = new Map<RemoteJobHooks, number>()
  readonly #reserved = new Map<RemoteJobHooks, number>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Keeps up to `most` places for sends of this definition; answers how many, the same until they are released. */
  reserve(remote: RemoteJobHooks, most: number): number {
    const known = this.#reserved.get(remote)
    if (known !== undefined) return known
    const count = Math.min(most, this.#roomOf(remote))
    this.#reserved.set(remote, count)
    return count
  }

  release(): void {
    this.#reserved.clear()
  }

  /** False when it needs a slot. */
  run(remote: RemoteJobHooks, send: Runnable): boolean {
    if (this.#roomOf(remote) === 0) return false
    this.#running.set(remote, (this.#running.get(remote) ?? 0) + 1)
    const end = (): void => {
      this.#running.set(remote, (this.#running.get(remote) ?? 1) - 1)
    }
    send.run().then(end, (error: unknown) => {
      this.#logger.error({ err: error }, 'An execution rejected, which it must not')
      end()
    })
    return true
  }

  #roomOf(remote: RemoteJobHooks): number {
    const taken = (this.#running.get(remote) ?? 0) + (this.#reserved.get(remote) ?? 0)
    return Math.max(0, (remote.sendsAtOnce ?? 0) - taken)
  }
}
