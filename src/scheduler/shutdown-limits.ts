import { type Clock, timerDelayMaxMs } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'
import type { ShutdownOptions } from './shutdown-options.ts'

/** How long each step may take when the caller does not wait, or its time is over. */
export const stepMaxMs = 1000
/** How long all steps together may take after `timeoutMs`: plugins and listeners half of it, the store all of it. */
export const graceMs = 1000
/**
 * How long each may take, however long the caller waits: listeners and a plugin, which may wait for this shutdown, and
 * a step of the store, unless it may wait longer for locks, once no job runs and all ends are written.
 */
export const answerMaxMs = 10_000
/** How long the end of a thread that was terminated at the end of its grace may take, until it is written. */
const threadEndMs = 1000
/** How much longer a step of the store may take than it may wait for locks. */
export const afterLocksMs = 5000

/** How long a shutdown may take. A caller that asks for it again can shorten that, and not make it longer. */
export class ShutdownLimits {
  readonly waits: boolean
  readonly #clock: Clock
  readonly #interruptGraceMs: number
  /** By the monotonic clock, as the next one; null for no limit. */
  #endMs: number | null = null
  #interruptAtMs: number | null = null
  /** Resolves when the limits are shortened. */
  #shortened: Promise<null>
  #tellShortened: () => void = () => {}

  constructor(clock: Clock, interruptGraceMs: number, given: ShutdownOptions) {
    this.#clock = clock
    this.#interruptGraceMs = interruptGraceMs
    this.waits = given.waitForJobsToComplete ?? false
    this.#shortened = this.#nextShortening()
    this.shorten(given)
  }

  /** When jobs are to be interrupted, in milliseconds from now; null for never. */
  get interruptInMs(): number | null {
    return this.waits ? this.#leftUntil(this.#interruptAtMs) : null
  }

  /** What is left of the time that the caller wants to wait; null for no limit. */
  get remainingMs(): number | null {
    return this.waits ? this.#leftUntil(this.#endMs) : 0
  }

  /** How long listeners, or a plugin, may take. */
  get answerMs(): number {
    return Math.min(this.stepMs(graceMs / 2) ?? answerMaxMs, answerMaxMs)
  }

  /** How long the next step may take. With `timeoutMs`, all steps share one deadline, and a second after it. */
  stepMs(afterDeadlineMs: number): number | null {
    const { remainingMs } = this
    if (remainingMs === null) return null
    const ownMs = Math.max(remainingMs, stepMaxMs)
    if (this.#endMs === null) return ownMs
    const deadlineMs = this.#endMs + (this.waits ? afterDeadlineMs : 0)
    return Math.max(0, Math.min(ownMs, deadlineMs - this.#clock.elapsedMs()))
  }

  /** Of each limit the earlier one counts from now on. */
  shorten({ timeoutMs, interruptAfterMs }: ShutdownOptions): void {
    const [interruptAtMs, endMs] = [this.#interruptAtMs, this.#endMs]
    this.#interruptAtMs = this.#earlier(interruptAtMs, interruptAfterMs)
    this.#endMs = this.#earlier(endMs, timeoutMs ?? this.#graceAfter(interruptAfterMs))
    if (this.#interruptAtMs === interruptAtMs && this.#endMs === endMs) return
    this.#tellShortened()
    this.#shortened = this.#nextShortening()
  }

  /** What the call answers; it is made once more with what is left of the time when that is shortened meanwhile. */
  async withRemaining<Answer>(call: (remainingMs: number | null) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answered = async (): Promise<{ value: Answer }> => ({ value: await call(this.remainingMs) })
      const answer = await Promise.race([answered(), this.#shortened])
      if (answer !== null) return answer.value
    }
  }

  /** Whether the work settles in time. The limit is asked for again when it may have become a shorter one. */
  async settled(limitMs: () => number | null, work: Promise<unknown>): Promise<boolean> {
    let endMs = Number.POSITIVE_INFINITY
    for (;;) {
      const nowMs = this.#clock.elapsedMs()
      endMs = Math.min(endMs, nowMs + (limitMs() ?? Number.POSITIVE_INFINITY))
      const leftMs = endMs === Number.POSITIVE_INFINITY ? null : Math.max(0, endMs - nowMs)
      const shortened = this.#shortened
      const isInTime = await settledWithin(this.#clock, leftMs, Promise.race([work, shortened]))
      if (!isInTime || shortened === this.#shortened) return isInTime
    }
  }

  #leftUntil(atMs: number | null): number | null {
    return atMs === null ? null : Math.max(0, atMs - this.#clock.elapsedMs())
  }

  #nextShortening(): Promise<null> {
    return new Promise((resolve) => {
      this.#tellShortened = () => {
        resolve(null)
      }
    })
  }

  #graceAfter(interruptAfterMs: number | undefined): number | undefined {
    if (interruptAfterMs === undefined) return undefined
    return Math.min(interruptAfterMs + this.#interruptGraceMs + threadEndMs, timerDelayMaxMs)
  }

  #earlier(atMs: number | null, inMs: number | undefined): number | null {
    if (inMs === undefined) return atMs
    return Math.min(atMs ?? Number.POSITIVE_INFINITY, this.#clock.elapsedMs() + inMs)
  }
}
