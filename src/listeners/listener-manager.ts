import { checkFunction, checkName, checkObject, checkString, listOf } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { checkMatcher, type KeyLike, type Matcher } from '../core/matcher.ts'
import { isObject, nearestName } from '../core/options.ts'
import { callbacksOf } from './events.ts'
import type { JobListener } from './job-listener.ts'
import type { SchedulerListener } from './scheduler-listener.ts'
import type { TriggerListener } from './trigger-listener.ts'

interface Registration<Listener> {
  readonly listener: Listener
  /** The listener is called for a key that one of them matches; empty: for every key. */
  readonly matchers: readonly Matcher[]
}

const none: readonly never[] = []

/** Reports a matcher that threw; its listener counts as not matching. */
type MatcherErrorHandler = (listener: object, error: unknown) => void

/** Named listeners in order of registration; a second one of the same name replaces the first. */
class NamedListeners<Listener extends { readonly name: string }> {
  readonly #registrations = new Map<string, Registration<Listener>>()

  readonly #kind: string
  readonly #callbacks: readonly string[]

  constructor(kind: 'Job' | 'Trigger', callbacks: readonly string[]) {
    this.#kind = kind
    this.#callbacks = callbacks
  }

  add(listener: Listener, matchers: readonly Matcher[]): void {
    const method = `add${this.#kind}Listener`
    checkObject(method, 'listener', listener)
    checkName(method, 'name', listener.name)
    checkCallbacks(method, listener, this.#callbacks)
    listOf(checkMatcher)(method, 'matchers', matchers)
    this.#registrations.set(listener.name, { listener, matchers: [...matchers] })
  }

  remove(name: string): boolean {
    checkString(`remove${this.#kind}Listener`, 'name', name)
    return this.#registrations.delete(name)
  }

  get(name: string): Listener | null {
    checkString(`get${this.#kind}Listener`, 'name', name)
    return this.#registrations.get(name)?.listener ?? null
  }

  all(): readonly Listener[] {
    return [...this.#registrations.values()].map((registration) => registration.listener)
  }

  get isEmpty(): boolean {
    return this.#registrations.size === 0
  }

  matching(key: KeyLike, onMatcherError: MatcherErrorHandler): readonly Listener[] {
    if (this.isEmpty) return none
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

/** Refuses a callback that is no function before it is called, and a listener that nothing would ever call. */
function checkCallbacks(method: string, listener: object, callbacks: readonly string[]): void {
  const own = callbacks.filter((name) => Reflect.get(listener, name) !== undefined)
  for (const name of own) checkFunction(method, `listener.${name}`, Reflect.get(listener, name))
  if (own.length > 0) return
  const meant = methodsOf(listener).flatMap((name) => {
    const nearest = nearestName(name, callbacks)
    return nearest === null ? [] : [`Did you mean '${nearest}' by '${name}'?`]
  })
  throw new InvalidArgumentError(
    'listener',
    `${method}: 'listener' has no callback. ${meant[0] ?? `Give it one of ${callbacks.join(', ')}.`}`,
  )
}

/** The names of what can be called, also of methods of its classes. */
function methodsOf(listener: object): readonly string[] {
  const names: string[] = []
  for (let at: unknown = listener; isObject(at) && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const members = Object.entries(Object.getOwnPropertyDescriptors(at))
    names.push(...members.flatMap(([name, { value }]) => (typeof value === 'function' ? [name] : [])))
  }
  return names
}

/** The listeners of one scheduler. They are not stored: each process registers its own. */
export class ListenerManager {
  readonly #jobListeners = new NamedListeners<JobListener>('Job', callbacksOf('job'))
  readonly #triggerListeners = new NamedListeners<TriggerListener>('Trigger', callbacksOf('trigger'))
  readonly #schedulerListeners = new Set<SchedulerListener>()

  /**
   * Adds a job listener for the jobs that one of the matchers matches; without matchers, for all.
   *
   * @throws InvalidArgumentError when the name is blank, a method or a matcher is none, or it has no callback
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
   * @throws InvalidArgumentError when the name is blank, a method or a matcher is none, or it has no callback
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

  /** @throws InvalidArgumentError when one of its methods is no function, or it has no callback */
  addSchedulerListener(listener: SchedulerListener): void {
    checkObject('addSchedulerListener', 'listener', listener)
    checkCallbacks('addSchedulerListener', listener, callbacksOf('scheduler'))
    this.#schedulerListeners.add(listener)
  }
  /** False when it was not registered. */
  removeSchedulerListener(listener: SchedulerListener): boolean {
    checkObject('removeSchedulerListener', 'listener', listener)
    return this.#schedulerListeners.delete(listener)
  }
  getSchedulerListeners(): readonly SchedulerListener[] {
    return [...this.#schedulerListeners]
  }

  /** @internal */
  get hasSchedulerListeners(): boolean {
    return this.#schedulerListeners.size > 0
  }
  /** Listeners of a job, in order. @internal */
  jobListenersFor(key: KeyLike, onMatcherError: MatcherErrorHandler): readonly JobListener[] {
    return this.#jobListeners.matching(key, onMatcherError)
  }
  /** Listeners of a trigger, in order. @internal */
  triggerListenersFor(key: KeyLike, onMatcherError: MatcherErrorHandler): readonly TriggerListener[] {
    return this.#triggerListeners.matching(key, onMatcherError)
  }
}
