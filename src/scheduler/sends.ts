import type { Logger } from '../core/logger.ts'
import type { RemoteJobHooks } from '../jobs/remote-job.ts'
import type { Runnable } from '../threadpool/thread-pool.ts'

/** Runs sends of remote jobs beside the slots of the pool, as many at one time as their definitions allow. */
export class Sends {
  readonly #logger: Logger
  readonly #running = new Map<RemoteJobHooks, number>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** False when it needs a slot. */
  run(remote: RemoteJobHooks, send: Runnable): boolean {
    const running = this.#running.get(remote) ?? 0
    if (running >= (remote.sendsAtOnce ?? 0)) return false
    this.#running.set(remote, running + 1)
    const end = (): void => {
      this.#running.set(remote, (this.#running.get(remote) ?? 1) - 1)
    }
    send.run().then(end, (error: unknown) => {
      this.#logger.error({ err: error }, 'An execution rejected, which it must not')
      end()
    })
    return true
  }
}
