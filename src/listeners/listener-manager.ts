import { InvalidArgumentError } from '../core/errors.ts'
import type { Matcher } from '../core/matcher.ts'
import type { JobListener } from './job-listener.ts'
import type { SchedulerListener } from './scheduler-listener.ts'
import type { TriggerListener } from './trigger-listener.ts'

interface Registration<Listener> {
  readonly listener: Listener
  /** Empty means: everything. Several are alternatives. */
  readonly matchers: readonly Matcher[]
}

type KeyLike = Parameters<Matcher['isMatch']>[0]

/** Is told of a matcher that threw; its listener counts as not matching. */
type MatcherErrorHandler = (listener: object, error: unknown) => void

/** Named listeners in order of registration; a second one of the same name takes the first one's place. */
class NamedListeners<Listener extends { readonly name: string }> {
  readonly #registrations = new Map<string, Registration<Listener>>()

  add(listener: Listener, matchers: readonly Matcher[]): void {
    if (typeof listener.name !== 'string' || listener.name.trim() === '') {
      throw new InvalidArgumentError('name', 'A listener needs a name that is not blank.')
    }
    this.#registrations.set(listener.name, { listener, matchers: [...matchers] })
  }

  remove(name: string): boolean {
    return this.#registrations.delete(name)
  }

  get(name: string): Listener | null {
    return this.#registrations.get(name)?.listener ?? null
  }

  all(): readonly Listener[] {
    return [...this.#registrations.values()].map((registration) => registration.listener)
  }

  get isEmpty(): boolean {
    return this.#registrations.size === 0
  }

  matching(key: KeyLike, onMatcherError: MatcherErrorHandler): readonly Listener[] {
    if (this.isEmpty) return []
    const matching: Listener[] = []
    for (const { listener, matchers } of this.#registrations.values()) {
      try {
        if (matchers.length === 0 || matchers.some((matcher) => matcher.isMatch(key))) matching.push(listener)
      } catch (error) {
        onMatcherError(listener, error)
      }
    }
    return matching
  }
}

/** The listeners of one scheduler. They are not stored: each process registers its own. */
export class ListenerManager {
  readonly #jobListeners = new NamedListeners<JobListener>()
  readonly #triggerListeners = new NamedListeners<TriggerListener>()
  readonly #schedulerListeners = new Set<SchedulerListener>()

  /**
   * Adds a job listener for the jobs that one of the matchers matches; without matchers, for all.
   *
   * @throws InvalidArgumentError when the name is blank
   */
  addJobListener(listener: JobListener, ...matchers: readonly Matcher[]): void {
    this.#jobListeners.add(listener, matchers)
  }
  /** False when there was none of that name. */
  removeJobListener(name: string): boolean {
    return this.#jobListeners.remove(name)
  }
  getJobListener(name: string): JobListener | null {
    return this.#jobListeners.get(name)
  }
  getJobListeners(): readonly JobListener[] {
    return this.#jobListeners.all()
  }

  /**
   * Adds a trigger listener for the triggers that one of the matchers matches; without matchers, for all.
   *
   * @throws InvalidArgumentError when the name is blank
   */
  addTriggerListener(listener: TriggerListener, ...matchers: readonly Matcher[]): void {
    this.#triggerListeners.add(listener, matchers)
  }
  /** False when there was none of that name. */
  removeTriggerListener(name: string): boolean {
    return this.#triggerListeners.remove(name)
  }
  getTriggerListener(name: string): TriggerListener | null {
    return this.#triggerListeners.get(name)
  }
  getTriggerListeners(): readonly TriggerListener[] {
    return this.#triggerListeners.all()
  }

  addSchedulerListener(listener: SchedulerListener): void {
    this.#schedulerListeners.add(listener)
  }
  /** False when it was not registered. */
  removeSchedulerListener(listener: SchedulerListener): boolean {
    return this.#schedulerListeners.delete(listener)
  }
  getSchedulerListeners(): readonly SchedulerListener[] {
    return [...this.#schedulerListeners]
  }

  /** Listeners to tell about a job, in order. */
  jobListenersFor(key: KeyLike, onMatcherError: MatcherErrorHandler): readonly JobListener[] {
    return this.#jobListeners.matching(key, onMatcherError)
  }
  /** Listeners to tell about a trigger, in order. */
  triggerListenersFor(key: KeyLike, onMatcherError: MatcherErrorHandler): readonly TriggerListener[] {
    return this.#triggerListeners.matching(key, onMatcherError)
  }
}
