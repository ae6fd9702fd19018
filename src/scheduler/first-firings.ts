import type { FireSlot } from '../jobstore/fire-slot.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type { JobAndTriggers } from '../jobstore/job-and-triggers.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { AdjustableClock } from '../time/adjustable-clock.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { Waiters } from '../time/waiters.ts'

/** A trigger that is due so soon is due by the time that it is stored; if not, the loop fires it. Milliseconds. */
const soonMs = 5
/** How far the machine's clock may be ahead for what is due by it to be due. Milliseconds. */
const aheadMaxMs = 5

export interface FirstFiringsParts {
  readonly clock: Clock
  readonly jobStore: JobStore
  /** Whether a thread may be free while the trigger is stored. */
  readonly mayBeFree: () => boolean
  /** Whether the loop has nothing to fire, and a thread is free that nothing else needs. */
  readonly isFree: () => boolean
  /** Hands a firing to the pool; never throws. */
  readonly dispatch: (bundle: TriggerFiredBundle) => void
}

/**
 * Fires new triggers in the step that stores them, which saves a search and a commit. Only while the loop has nothing
 * to do: then no trigger that is due waits here for a thread, and none is overtaken. A thread is reserved from the
 * transaction until the job takes it, and the loop counts it as taken.
 */
export class FirstFirings {
  readonly #parts: FirstFiringsParts
  readonly #reserved = new Set<FireSlot>()
  /** Callers that wait until a reserved thread is free or taken. */
  readonly #waiting = new Waiters()

  constructor(parts: FirstFiringsParts) {
    this.#parts = parts
  }

  /** How many threads are kept free. */
  get reservedCount(): number {
    return this.#reserved.size
  }

  /**
   * Stores one new trigger, with its job where that is new. The caller has its answer before the job begins: a firing
   * is handed to the pool in the next turn of the event loop.
   */
  async schedule(entry: JobAndTriggers): Promise<void> {
    const { clock, jobStore, dispatch, mayBeFree } = this.#parts
    if (jobStore.scheduleAndFire === undefined || !this.#isDue(entry) || !mayBeFree()) {
      await jobStore.scheduleJobs([entry], { replace: false })
      return
    }
    const slot = this.#newSlot()
    let fired: TriggerFiredBundle | null = null
    try {
      fired = await jobStore.scheduleAndFire(entry, slot)
    } finally {
      if (fired === null) slot.release()
    }
    const bundle: TriggerFiredBundle | null = fired
    if (bundle === null) return
    clock.setImmediate(() => {
      dispatch(bundle)
      slot.release()
    })
  }

  /** Resolves when the next reserved thread is free again, or taken. */
  async nextEnd(): Promise<void> {
    await this.#waiting.wait(this.#parts.clock)
  }

  /** Resolves when no firing is on its way. */
  async settled(): Promise<void> {
    while (this.#reserved.size > 0) await this.nextEnd()
  }

  #isDue({ triggers: [trigger] }: JobAndTriggers): boolean {
    const dueMs = trigger?.nextFireTimeMs ?? null
    return dueMs !== null && dueMs <= this.#parts.clock.now() + soonMs
  }

  /**
   * Now, also by the machine's clock, which callers read: the scheduler's, which a store corrects, is behind it by what
   * is rounded and by what both have drifted apart since.
   */
  #dueByMs(): EpochMs {
    const { clock } = this.#parts
    const nowMs = clock.now()
    const aheadMs = clock instanceof AdjustableClock ? -clock.offsetMs : 0
    return nowMs + Math.max(0, Math.min(aheadMs, aheadMaxMs))
  }

  #newSlot(): FireSlot {
    const slot: FireSlot = {
      dueByMs: this.#dueByMs(),
      reserve: () => {
        if (this.#reserved.has(slot)) return true
        if (!this.#parts.isFree()) return false
        this.#reserved.add(slot)
        return true
      },
      release: () => {
        if (this.#reserved.delete(slot)) this.#waiting.wakeAll()
      },
    }
    return slot
  }
}
