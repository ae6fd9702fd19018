import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type { AcquiredTrigger, TriggerFiredResult } from '../jobstore/job-store.ts'
import type { EpochMs } from '../time/clock.ts'
import { GivingBack, type GivingBackParts } from './giving-back.ts'
import { LockedClaims } from './locked-claims.ts'
import type { TurnDecision } from './plan-turn.ts'

export interface ClaimsParts extends GivingBackParts {
  /** Hands a firing to the pool; never throws. */
  readonly handOn: (bundle: TriggerFiredBundle) => void
}

/** What the store could not fire. */
interface Unfired {
  /** To be given back. */
  readonly claims: readonly AcquiredTrigger[]
  readonly locked: readonly AcquiredTrigger[]
  /** False when the answer of the store was lost, so that it may have fired the claims. */
  readonly isAnswered: boolean
}

/**
 * The triggers that the loop has claimed: it fires them at their time, or gives them back. Those that are locked are
 * set aside, and none of the others waits for them.
 */
export class Claims {
  readonly #parts: ClaimsParts
  readonly #givingBack: GivingBack
  readonly #aside = new LockedClaims()
  #held: readonly AcquiredTrigger[] = []
  #heldSinceMs: EpochMs = 0
  #areUnknown = false
  #firing: Promise<unknown> | null = null

  constructor(parts: ClaimsParts) {
    this.#parts = parts
    this.#givingBack = new GivingBack(parts)
  }

  /** Claims whose time the loop waits for, in order of fire time. */
  get held(): readonly AcquiredTrigger[] {
    return this.#held
  }

  /** Wall clock when the loop asked for them. */
  get heldSinceMs(): EpochMs {
    return this.#heldSinceMs
  }

  /** Claims that are locked, and when they are tried again. */
  get aside(): Pick<LockedClaims, 'all' | 'isAnyDue' | 'retryAtMs'> {
    return this.#aside
  }

  /** Whether the store may hold claims of this node that are not known here. */
  get areUnknown(): boolean {
    return this.#areUnknown
  }

  /** The firing that is under way. */
  get firing(): Promise<unknown> | null {
    return this.#firing
  }

  /** Adds claims that come before those that are held. */
  add(acquired: readonly AcquiredTrigger[], sinceMs: EpochMs): void {
    // Claims that are held keep the age of their own acquisition.
    if (this.#held.length === 0) this.#heldSinceMs = sinceMs
    this.#held = [...acquired, ...this.#held]
  }

  /** The answer to an acquisition was lost. */
  loseAnswer(): void {
    this.#areUnknown = true
  }

  /** Fires what is due of the claims that are held, and keeps the rest. */
  async fire({ due, rest }: Extract<TurnDecision, { kind: 'fire' }>): Promise<void> {
    this.#held = rest
    this.#aside.add(await this.#fire(due), this.#heldSinceMs, this.#parts.clock.elapsedMs())
  }

  /** Tries again what was locked; answers whether some of it has fired or is given back, and may be found again. */
  async retry({ fire, giveBack }: Extract<TurnDecision, { kind: 'retry' }>): Promise<boolean> {
    const tried = this.#aside.takeAll()
    const locked: AcquiredTrigger[] = []
    // First, because giving back may take long, and a standby that comes meanwhile has nothing fire after it.
    if (fire.length > 0) locked.push(...(await this.#fire(fire.map(({ acquired }) => acquired))))
    if (giveBack.length > 0) {
      locked.push(...(await this.#givingBack.release(giveBack.map(({ acquired }) => acquired))))
    }
    // When the firing fails, claims that were held are given back with it, and may be locked as well.
    this.#aside.putBack(locked, { tried, sinceMs: this.#heldSinceMs }, this.#parts.clock.elapsedMs())
    return tried.some(({ acquired }) => !locked.includes(acquired))
  }

  /** Gives back what is held, and when the loop is halted also what was set aside. */
  async release(): Promise<void> {
    const { clock, haltSignal } = this.#parts
    const aside = haltSignal.aborted ? this.#aside.takeAll() : []
    const held = [...this.#held, ...aside.map(({ acquired }) => acquired)]
    const areUnknown = this.#areUnknown
    this.#held = []
    this.#areUnknown = false
    const locked = await (areUnknown ? this.#givingBack.releaseUnknown(held) : this.#givingBack.release(held))
    if (haltSignal.aborted) await this.#givingBack.waitForLocks(locked)
    else this.#aside.add(locked, this.#heldSinceMs, clock.elapsedMs())
  }

  /**
   * Fires claims and answers those that are locked. `firing` settles when no firing is under way; it does not wait for
   * claims that are given back.
   */
  async #fire(due: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    const firing = this.#handOnFired(due)
    this.#firing = firing
    const { claims, locked, isAnswered } = await firing
    this.#firing = null
    if (claims.length === 0) return locked
    const kept = await (isAnswered ? this.#givingBack.release(claims) : this.#givingBack.releaseOrEnd(claims))
    return [...locked, ...kept]
  }

  /** Marks claims as fired and hands the firings on. */
  async #handOnFired(due: readonly AcquiredTrigger[]): Promise<Unfired> {
    const { failures, handOn, jobStore } = this.#parts
    let results: readonly TriggerFiredResult[]
    failures.asks('a firing of triggers')
    try {
      results = await jobStore.triggersFired(due)
      failures.asksNoMore()
    } catch (error) {
      const claims = [...due, ...this.#held]
      this.#held = []
      failures.add('The job store failed while firing triggers.', error)
      return { claims, locked: [], isAnswered: false }
    }
    const claims: AcquiredTrigger[] = []
    const locked: AcquiredTrigger[] = []
    for (const [index, result] of results.entries()) {
      const acquired = due[index]
      if (result.kind === 'fired') {
        handOn(result.bundle)
      } else if (acquired === undefined) {
        continue
      } else if (result.kind === 'locked') {
        locked.push(acquired)
      } else if (result.kind === 'failed') {
        claims.push(acquired)
        const key = acquired.trigger.key.toString()
        failures.addOfTrigger(`Trigger ${key} could not be fired and was released.`, result.error)
      }
    }
    // An answer that claims are locked says nothing of the store: the search may fail between each two of them.
    if (claims.length === 0 && results.some(({ kind }) => kind === 'fired')) failures.end()
    return { claims, locked, isAnswered: true }
  }
}
