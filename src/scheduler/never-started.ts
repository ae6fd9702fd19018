import { listenLastingly } from '../core/lasting-listener.ts'
import type { Logger } from '../core/logger.ts'
import type { JobStore } from '../jobstore/job-store.ts'

/**
 * Warns when triggers were stored and `start()` was never called. With a store in memory, whose triggers are lost, it
 * warns at the shutdown and at the end of the process. With a persistent store it warns only when the process ends
 * without `shutdown()`.
 */
export class NeverStarted {
  readonly #schedulerName: string
  readonly #store: JobStore
  readonly #logger: Logger
  #isStartAsked = false
  #stopWatching: (() => void) | null = null

  constructor(schedulerName: string, store: JobStore, logger: Logger) {
    this.#schedulerName = schedulerName
    this.#store = store
    this.#logger = logger
  }

  /** A trigger was stored. */
  noteTrigger(): void {
    if (this.#isStartAsked || this.#stopWatching !== null) return
    this.#stopWatching = listenLastingly(process, ['exit'], (exitCode: number) => {
      // A process that failed has reported another error.
      if (exitCode !== 0) return
      this.#warn(
        this.#store.capabilities.persistent
          ? 'they fire when another process starts it. Call start(), or shutdown() where a process only schedules.'
          : 'in memory, they are lost. Call start().',
      )
    })
  }

  /** Everything that was stored is gone. */
  noteCleared(): void {
    this.#endWatch()
  }

  /** The start was asked for, now or for later. */
  noteStart(): void {
    this.#isStartAsked = true
    this.#endWatch()
  }

  /** Before the store is closed. */
  async noteShutdown(): Promise<void> {
    const isWatching = this.#stopWatching !== null
    this.#endWatch()
    if (!isWatching || this.#store.capabilities.persistent) return
    const { items } = await this.#store.queryTriggers({ take: 1 })
    if (items.length > 0) this.#warn('in memory, they are lost. Call start() before shutdown().')
  }

  #endWatch(): void {
    this.#stopWatching?.()
    this.#stopWatching = null
  }

  #warn(consequence: string): void {
    this.#logger.warn(
      { schedulerName: this.#schedulerName },
      `Triggers were stored and start() was never called, so none has fired here: ${consequence}`,
    )
  }
}
