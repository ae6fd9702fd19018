import type { Logger } from '../core/logger.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { Clock } from '../time/clock.ts'

/** How long the `stop` of a remote job may take; then the firing ends without it. */
const stopMaxMs = 10_000

interface Wait {
  readonly fireInstanceId: string
  readonly end: (why: string) => void
}

/** Waits for the `stop` of remote jobs: code of the user, which may never settle. */
export class RemoteStops {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #waits = new Set<Wait>()
  #isClosed = false

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /** Null when `stop` has settled, or else why it is waited for no longer. Throws what `stop` throws until then. */
  async ask(fireInstanceId: string, stop: () => unknown): Promise<string | null> {
    const stopping = Promise.resolve(stop())
    let end: (why: string) => void = () => {}
    const ended = new Promise<string>((resolve) => {
      end = resolve
    })
    const wait = { fireInstanceId, end }
    const timer = this.#clock.setTimer(stopMaxMs, () => {
      end(`stop has not settled within ${stopMaxMs / 1000} s`)
    })
    this.#waits.add(wait)
    if (this.#isClosed) this.close()
    try {
      const why = await Promise.race([stopping.then(() => null), ended])
      if (why === null) return null
      unawaited(stopping, (error) => {
        const message = 'the stop of a remote job failed after it was waited for'
        logThrown(this.#logger, error, message, { fireInstanceId }, 'warn')
      })
      return why
    } finally {
      timer.cancel()
      this.#waits.delete(wait)
    }
  }

  /** The firing ends here: no caller need wait for its `stop` any more. */
  noteEnd(fireInstanceId: string): void {
    for (const wait of this.#waits)
      if (wait.fireInstanceId === fireInstanceId) wait.end('the firing has ended')
  }

  /** The scheduler closes. An interrupt that is under way may still ask. */
  close(): void {
    this.#isClosed = true
    for (const wait of this.#waits) wait.end('the scheduler shuts down')
  }
}
