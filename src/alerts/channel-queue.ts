import type { Logger } from '../core/logger.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { Clock } from '../time/clock.ts'
import { InterruptibleSleep } from '../time/interruptible-sleep.ts'
import type { AlertChannel, AlertNotice } from './alert-types.ts'

export interface ChannelQueueOptions {
  readonly channel: AlertChannel
  readonly clock: Clock
  readonly logger: Logger
  /** How long one attempt may take. */
  readonly timeoutMs: number
  /** How often a notice is tried. */
  readonly attempts: number
}

/**
 * What became of a notice. `settled`: it has arrived, or is no longer news. `givenUp`: no attempt succeeded. `dropped`:
 * another attempt is needed, because others waited as well or because of the end. `unknown`: it may have arrived and
 * may not, because the queue was closed.
 */
export type NoticeEnd = 'settled' | 'givenUp' | 'dropped' | 'unknown'

interface Waiting {
  readonly notice: AlertNotice
  readonly isNews: () => Promise<boolean>
  /** Called once. */
  readonly done: (end: NoticeEnd) => void
  readonly addedMs: number
}

/** Notices that wait for one channel; the oldest is dropped when there are more. */
const waitingMax = 100
const pauseMs = { first: 1000, most: 60_000 }
/** What has waited for so long may be no news. */
const freshMs = 1000

/**
 * Sends the notices of one channel in their order, one at a time, in the background: a channel that fails or hangs
 * holds up nothing but itself.
 */
export class ChannelQueue {
  readonly #options: ChannelQueueOptions
  readonly #waiting: Waiting[] = []
  readonly #sleep: InterruptibleSleep
  #sending: Promise<void> | null = null
  readonly #attempts = new Set<AbortController>()
  #isClosed = false
  #isEnding = false
  #dropped = 0

  constructor(options: ChannelQueueOptions) {
    this.#options = options
    this.#sleep = new InterruptibleSleep(options.clock)
  }

  get name(): string {
    return this.#options.channel.name
  }

  get hasRoom(): boolean {
    return this.#waiting.length < waitingMax
  }

  /** Sends a notice; one that has waited only where it is still news. */
  add(notice: AlertNotice, isNews: () => Promise<boolean>, done: (end: NoticeEnd) => void): void {
    if (this.#isClosed) {
      done('unknown')
      return
    }
    this.#waiting.push({ notice, isNews, done, addedMs: this.#options.clock.elapsedMs() })
    if (this.#waiting.length > waitingMax) {
      this.#waiting.shift()?.done('dropped')
      if (this.#dropped++ === 0) {
        this.#options.logger.error({ channel: this.name }, 'Alerts are dropped: the channel does not keep up')
      }
    }
    if (this.#sending !== null) return
    this.#sending = this.#sendAll()
    unawaited(this.#sending, (error) => {
      logThrown(this.#options.logger, error, 'Sending alerts has stopped.')
    })
  }

  /** Sends one notice now, besides the queue; rejects when it did not arrive. */
  async try(notice: AlertNotice): Promise<void> {
    const { channel, clock, timeoutMs } = this.#options
    const attempt = new AbortController()
    this.#attempts.add(attempt)
    const failure = new Error(`Channel ${channel.name} took longer than ${timeoutMs} ms.`)
    let fail: (error: Error) => void = () => {}
    const late = new Promise<never>((_resolve, reject) => {
      fail = reject
    })
    const timer = clock.setTimer(
      timeoutMs,
      () => {
        attempt.abort(failure)
      },
      { unref: true },
    )
    attempt.signal.addEventListener('abort', () => {
      fail(attempt.signal.reason instanceof Error ? attempt.signal.reason : failure)
    })
    try {
      // A channel that ignores the signal is not waited for.
      await Promise.race([channel.send(notice, attempt.signal), late])
    } finally {
      timer.cancel()
      this.#attempts.delete(attempt)
    }
  }

  /**
   * Sends nothing more; what is under way is aborted. Resolves when the channel has closed, and never rejects.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { done } of this.#waiting.splice(0)) done('unknown')
    this.#sleep.end()
    for (const attempt of this.#attempts) attempt.abort(new Error('The scheduler shuts down.'))
    await Promise.allSettled([this.#sending])
    try {
      await this.#options.channel.close?.()
    } catch (error) {
      logThrown(this.#options.logger, error, 'The close of an alert channel failed.', { channel: this.name })
    }
  }

  /** Tries what waits once more, each notice once; resolves when nothing is left. */
  async finish(): Promise<void> {
    this.#isEnding = true
    this.#sleep.end()
    await this.#sending
  }

  #hasClosed(): boolean {
    return this.#isClosed
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      next.done(await this.#send(next))
    }
    this.#sending = null
  }

  async #send({ notice, isNews, addedMs }: Waiting): Promise<NoticeEnd> {
    const { attempts, clock, logger } = this.#options
    for (let attempt = 1; !this.#isClosed; attempt++) {
      const isFresh = clock.elapsedMs() - addedMs < freshMs
      if (!isFresh && !(await isNews())) return 'settled'
      if (this.#hasClosed()) break
      try {
        await this.try(notice)
        this.#dropped = 0
        return 'settled'
      } catch (error) {
        if (this.#hasClosed()) break
        const about = { channel: this.name, notice: notice.id, attempt }
        if (attempt === attempts) {
          logThrown(logger, error, 'An alert could not be sent and is given up.', about)
          return 'givenUp'
        }
        if (this.#isEnding) {
          logThrown(logger, error, 'An alert could not be sent before the shutdown.', about, 'warn')
          return 'dropped'
        }
        if (attempt === 1)
          logThrown(logger, error, 'An alert could not be sent; it is tried again.', about, 'warn')
      }
      await this.#sleep.sleep(Math.min(pauseMs.most, pauseMs.first * 2 ** (attempt - 1)))
    }
    return 'unknown'
  }
}
