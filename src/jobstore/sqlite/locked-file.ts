import type { IdGenerator } from '../../core/ids.ts'
import type { Clock } from '../../time/clock.ts'
import { InterruptibleSleep } from '../../time/interruptible-sleep.ts'

/** Random up to this, so that processes that collided do not collide again. */
const lookMaxMs = 10

/**
 * Operations of this process that wait until no other connection has the file locked. One of them looks every few
 * milliseconds, because somebody who writes one transaction after another leaves no more between them. The others wait
 * for it, and when it has got through they try as well, in their order, before the file is locked again.
 */
export class LockedFile {
  readonly #ids: IdGenerator
  readonly #sleep: InterruptibleSleep
  #isLookedAt = false

  constructor({ clock, ids }: { readonly clock: Clock; readonly ids: IdGenerator }) {
    this.#ids = ids
    this.#sleep = new InterruptibleSleep(clock)
  }

  /** Whether any operation waits: then it is known that the file is locked. */
  get isWaitedFor(): boolean {
    return this.#sleep.areAny
  }

  get isCutOff(): boolean {
    return this.#sleep.isOver
  }

  /** Resolves when the operation is to try again, at the latest after `longestMs`. */
  async wait(longestMs: number): Promise<void> {
    if (this.#isLookedAt) {
      await this.#sleep.sleep(longestMs)
      return
    }
    this.#isLookedAt = true
    await this.#sleep.sleep(Math.min(longestMs, Math.ceil(this.#ids.random() * lookMaxMs)))
    this.#isLookedAt = false
  }

  /**
   * An operation has ended. Where it has written, all that wait try now. Else it shows nothing: readers wait for no
   * writer. But if it was the one that looked, another one is to.
   */
  operationEnded(hasWritten: boolean): void {
    if (hasWritten) this.#sleep.wakeAll()
    else if (!this.#isLookedAt) this.#sleep.wakeFirst()
  }

  /** No operation waits from now on. */
  cutOff(): void {
    this.#sleep.end()
  }
}
