import type { Clock } from '../../time/clock.ts'
import type { LiveEventJson } from './live-events.ts'

/** An event under its number, with its text made once for all who read it. */
export interface NumberedEvent {
  readonly id: number
  readonly event: LiveEventJson
  readonly text: string
}

/** How long events gather before readers are woken: many of a burst then go out together. */
const gatherMs = 25
/** How many events so long a time may have: of more the rest is left out, so that a flood costs a busy node little. */
const windowMs = 2000
const windowMax = 1000

/**
 * The last events, numbered. Readers come to it with the number that they have; it keeps nothing for any of them, so a
 * reader that does not read costs nothing.
 */
export class EventRing {
  readonly #clock: Clock
  readonly #capacity: number
  readonly #events: NumberedEvent[] = []
  readonly #waiting = new Set<() => void>()
  #lastId = 0
  #isGathering = false
  #windowEndMs = Number.NEGATIVE_INFINITY
  #inWindow = 0
  #isSkipping = false
  readonly #onRoom: () => void

  /** `onRoom` is called when there is room again after {@link mayAdd} has said that there is none. */
  constructor(capacity: number, clock: Clock, onRoom: () => void = () => {}) {
    this.#capacity = capacity
    this.#clock = clock
    this.#onRoom = onRoom
  }

  /** The number of the last event; 0 before the first. */
  get lastId(): number {
    return this.#lastId
  }

  /**
   * Whether there is room for one more event now. When there is none, it is left out: at the end of the window a number
   * is given to no event, and readers that come to it learn that some are missing.
   */
  mayAdd(): boolean {
    const nowMs = this.#clock.elapsedMs()
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + windowMs
      this.#inWindow = 0
    }
    if (this.#inWindow++ < windowMax) return true
    if (!this.#isSkipping) {
      this.#isSkipping = true
      const endGap = (): void => {
        this.#isSkipping = false
        this.#lastId++
        this.#onRoom()
        this.wake()
      }
      this.#clock.setTimer(this.#windowEndMs - nowMs, endGap, { unref: true })
    }
    return false
  }

  add(event: LiveEventJson): void {
    const id = ++this.#lastId
    this.#events[id % this.#capacity] = { id, event, text: JSON.stringify(event) }
    if (this.#isGathering || this.#waiting.size === 0) return
    this.#isGathering = true
    this.#clock.setTimer(gatherMs, () => {
      this.#isGathering = false
      this.wake()
    })
  }

  /** Events after a number, oldest first; null when the next one is missing, or the number was never given. */
  after(id: number, max: number): readonly NumberedEvent[] | null {
    if (id > this.#lastId || id < this.#lastId - this.#capacity) return null
    const found: NumberedEvent[] = []
    for (let next = id + 1; next <= this.#lastId && found.length < max; next++) {
      const event = this.#events[next % this.#capacity]
      if (event?.id !== next) return found.length > 0 ? found : null
      found.push(event)
    }
    return found
  }

  /** Forgets what it has, as when no client has been listening for a while and events were missed. */
  clear(): void {
    this.#events.length = 0
    this.#lastId++
  }

  /** Resolves with the next events, or after so many milliseconds. */
  async changed(withinMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel()
        this.#waiting.delete(end)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = this.#clock.setTimer(withinMs, end, { unref: true })
      signal.addEventListener('abort', end)
      this.#waiting.add(end)
      if (signal.aborted) end()
    })
  }

  wake(): void {
    for (const end of [...this.#waiting]) end()
  }
}
