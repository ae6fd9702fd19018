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

  constructor(capacity: number, clock: Clock) {
    this.#capacity = capacity
    this.#clock = clock
  }

  /** The number of the last event; 0 before the first. */
  get lastId(): number {
    return this.#lastId
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

  /** Events after a number, oldest first; null when some of them are no longer kept, or the number was never given. */
  after(id: number, max: number): readonly NumberedEvent[] | null {
    if (id > this.#lastId || id < this.#lastId - this.#capacity) return null
    const found: NumberedEvent[] = []
    for (let next = id + 1; next <= this.#lastId && found.length < max; next++) {
      const event = this.#events[next % this.#capacity]
      if (event?.id !== next) return null
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
