import { unawaited } from '../core/promises.ts'
import type { Clock, ClockTimer } from '../time/clock.ts'
import type { Notifier } from './notifier.ts'
import type { Reconciliation } from './schedule-definition.ts'
import type { ReconcileManner, TakeOver } from './schedule-set.ts'
import type { UnawaitedCalls } from './unawaited-calls.ts'

/** How often a node looks again at a set that live nodes have declared in a newer form: those nodes may stop. */
const lookAgainMs = 60_000

/** What carries out declarations of one kind. */
export interface Reconciles<Declared, Done> {
  reconcile(declared: Declared, manner: ReconcileManner): Promise<Done>
}

export interface SetCaretakerParts<Declared, Done> {
  /** Of what is declared, for messages. */
  readonly noun: string
  readonly declarations: Reconciles<Declared, Done>
  /** Of listeners that are told what the declarations change. */
  readonly calls: UnawaitedCalls
  readonly clock: Clock
  readonly notifier: Notifier
}

/** Remembers the sets, or calendars, that this node has declared, and declares those again that had to wait. */
export class SetCaretaker<
  Declared extends { readonly name: string },
  Done extends Pick<Reconciliation, 'deferred' | 'broken'>,
> {
  readonly #noun: string
  readonly #declarations: Reconciles<Declared, Done>
  readonly #calls: UnawaitedCalls
  readonly #clock: Clock
  readonly #notifier: Notifier
  /** By name; each call of `reconcile` for one replaces the one before. */
  readonly #declared = new Map<string, Declared>()
  /** When those are looked at again that wait, on the monotonic clock: each when it has waited for itself. */
  readonly #waiting = new Map<string, number>()
  /** Those of which what this process declared last came into force; others may have replaced it since. */
  readonly #inForce = new Set<string>()
  #timer: ClockTimer | null = null
  #looking: Promise<void> = Promise.resolve()
  #isEnded = false

  constructor({ noun, declarations, calls, clock, notifier }: SetCaretakerParts<Declared, Done>) {
    this.#noun = noun
    this.#declarations = declarations
    this.#calls = calls
    this.#clock = clock
    this.#notifier = notifier
  }

  async reconcile(declared: Declared, { dryRun }: { readonly dryRun: boolean }): Promise<Done> {
    const { done: reconciled, told } = this.#inTurn(() =>
      this.#declarations.reconcile(declared, {
        dryRun,
        mayTakeOver: this.#inForce.has(declared.name) ? 'fromItself' : 'never',
        onInForce: () => {
          this.#declared.set(declared.name, declared)
          this.#inForce.add(declared.name)
        },
      }),
    )
    try {
      const done = await reconciled
      if (!dryRun) {
        this.#declared.set(declared.name, declared)
        this.#note(declared.name, done)
      }
      return done
    } catch (error) {
      // What was begun is gone through again, also where the caller gives up.
      if (this.#declared.get(declared.name) === declared) this.#note(declared.name, null)
      throw error
    } finally {
      await told
    }
  }

  /** Nodes are known to each other once they have started, and older ones may have changed sets before. */
  async started(): Promise<void> {
    await this.#look([...this.#declared.keys()], { haveWaited: false })
  }

  /** What is under way ends with the store. */
  end(): void {
    this.#isEnded = true
    this.#timer?.cancel()
  }

  #hasEnded(): boolean {
    return this.#isEnded
  }

  /** `done`: null when it failed, which changes nothing about what is in force. */
  #note(name: string, done: Done | null): void {
    if (done?.deferred === false) this.#inForce.add(name)
    else if (done !== null) this.#inForce.delete(name)
    if (done?.deferred === false && done.broken.length === 0) this.#waiting.delete(name)
    else if (!this.#waiting.has(name)) this.#waiting.set(name, this.#clock.elapsedMs() + lookAgainMs)
    this.#arm()
  }

  /** What begins to wait is the last to be looked at, so a timer that is armed is early enough. */
  #arm(): void {
    if (this.#waiting.size === 0 || this.#isEnded || this.#timer !== null) return
    const firstMs = Math.min(...this.#waiting.values())
    this.#timer = this.#clock.setTimer(firstMs - this.#clock.elapsedMs(), () => {
      this.#timer = null
      const nowMs = this.#clock.elapsedMs()
      const due = [...this.#waiting].flatMap(([name, lookMs]) => (lookMs <= nowMs ? [name] : []))
      for (const name of due) this.#waiting.delete(name)
      unawaited(this.#look(due, { haveWaited: true }), () => {})
      this.#arm()
    })
  }

  async #look(names: readonly string[], { haveWaited }: { readonly haveWaited: boolean }): Promise<void> {
    const { done, told } = this.#inTurn(async () => {
      for (const name of names) {
        // What is in force is looked at again for its own sake: it has not waited for nodes with a newer form.
        const mayTakeOver = haveWaited && !this.#inForce.has(name) ? 'always' : 'never'
        await this.#lookAt(name, mayTakeOver)
      }
    })
    await done
    await told
  }

  /**
   * One after the other, so that what was declared last is in force last. The next one does not wait for the listeners
   * that are told of this one, which may be who declares it.
   */
  #inTurn<Answer>(work: () => Promise<Answer>): { done: Promise<Answer>; told: Promise<void> } {
    let earlierCount = 0
    const done = this.#looking.then(() => {
      earlierCount = this.#calls.addedCount
      return work()
    })
    this.#looking = done.then(
      () => {},
      () => {},
    )
    return { done, told: this.#looking.then(() => this.#toldAfter(earlierCount)) }
  }

  /**
   * Waits for the listeners that are told of a work, unless those are not done that were told before it: one of them
   * may be who waits for this work, and would then wait for itself.
   */
  async #toldAfter(earlierCount: number): Promise<void> {
    const { answered } = this.#calls
    if (this.#calls.hasAnswered(earlierCount)) await answered
    else this.#notifier.track(answered)
  }

  async #lookAt(name: string, mayTakeOver: TakeOver): Promise<void> {
    const declared = this.#declared.get(name)
    if (declared === undefined || this.#hasEnded()) return
    try {
      const done = await this.#declarations.reconcile(declared, { dryRun: false, mayTakeOver })
      this.#note(name, done)
    } catch (error) {
      if (this.#hasEnded()) return
      this.#notifier.error(
        `The ${this.#noun} '${name}' could not be compared with the store; trying again.`,
        error,
      )
      this.#note(name, null)
    }
  }
}
