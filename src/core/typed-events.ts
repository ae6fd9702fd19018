import { checkFunction, checkOptions, checkSignal, requireAnswerNow, wrongArgument } from './arguments.ts'
import type { Logger } from './logger.ts'
import { nearestName } from './options.ts'
import { calledSafely } from './promises.ts'
import { logThrown } from './thrown-value.ts'

/** Events of one object, for observers; `EventMap` has the payload of each. */
export interface TypedEvents<EventMap> {
  /**
   * Calls `observer` on every such event; returns a function that stops it.
   *
   * @throws InvalidArgumentError for a name that no event has, or an observer that is no function
   */
  on<Name extends keyof EventMap>(name: Name, observer: (payload: EventMap[Name]) => void): () => void
  /**
   * Resolves with the payload of the next such event that satisfies the predicate. Default: any. While none comes it
   * does not settle, not by a shutdown either; it rejects with the signal's reason, and with InvalidArgumentError.
   */
  next<Name extends keyof EventMap>(
    name: Name,
    predicate?: (payload: EventMap[Name]) => boolean,
    options?: { readonly signal?: AbortSignal },
  ): Promise<EventMap[Name]>
}

/** An object with the name of every event as a key, by which a mistyped name is refused. */
export type EventNames<EventMap> = Readonly<Record<keyof EventMap, unknown>>

/** The emitting side. An observer that throws is logged; the other observers are called all the same. */
export class TypedEventEmitter<EventMap> implements TypedEvents<EventMap> {
  readonly #observers = new Map<keyof EventMap, Set<(payload: never) => unknown>>()
  readonly #logger: Logger
  readonly #names: readonly string[]

  constructor(logger: Logger, names: EventNames<EventMap>) {
    this.#logger = logger
    this.#names = Object.keys(names)
  }

  on<Name extends keyof EventMap>(name: Name, observer: (payload: EventMap[Name]) => void): () => void {
    this.#checkName('events.on', name)
    checkFunction('events.on', 'observer', observer)
    let observers = this.#observers.get(name)
    if (observers === undefined) {
      observers = new Set()
      this.#observers.set(name, observers)
    }
    // A new function per call, so that an observer that is added twice is called twice.
    const registered = (payload: EventMap[Name]): unknown => {
      const tell: (payload: EventMap[Name]) => unknown = observer
      return tell(payload)
    }
    observers.add(registered)
    return () => {
      observers.delete(registered)
    }
  }

  next<Name extends keyof EventMap>(
    name: Name,
    predicate: (payload: EventMap[Name]) => boolean = () => true,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<EventMap[Name]> {
    return new Promise((resolve, reject) => {
      this.#checkName('events.next', name)
      checkFunction('events.next', 'predicate', predicate)
      checkOptions('events.next', options, { signal: checkSignal })
      const { signal } = options
      const giveUp = (): void => {
        stop()
        reject(signal?.reason as Error)
      }
      const observed = this.on(name, (payload) => {
        try {
          const isWanted = predicate(payload)
          requireAnswerNow('predicate', 'events.next', isWanted, 'ERR_INVALID_ARGUMENT')
          if (!isWanted) return
          stop()
          resolve(payload)
        } catch (error) {
          stop()
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
      const stop = (): void => {
        observed()
        signal?.removeEventListener('abort', giveUp)
      }
      if (signal?.aborted === true) giveUp()
      else signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Whether the event has an observer: hot paths build the payload only then. */
  has(name: keyof EventMap): boolean {
    const observers = this.#observers.get(name)
    return observers !== undefined && observers.size > 0
  }

  emit<Name extends keyof EventMap>(name: Name, payload: EventMap[Name]): void {
    const observers = this.#observers.get(name)
    if (observers === undefined) return
    const failed = (error: unknown): void => {
      logThrown(this.#logger, error, 'an event observer threw', { event: String(name) })
    }
    for (const observer of [...observers]) {
      calledSafely(() => observer(payload as never), failed)
    }
  }

  #checkName(method: string, name: unknown): void {
    if (this.#names.some((known) => known === name)) return
    const nearest = typeof name === 'string' ? nearestName(name, this.#names) : null
    const remedy =
      nearest === null ? `The events are ${this.#names.join(', ')}.` : `Did you mean '${nearest}'?`
    throw wrongArgument(method, 'name', 'the name of an event', name, { remedy })
  }
}
