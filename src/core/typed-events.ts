import type { Logger } from './logger.ts'
import { logThrown } from './thrown-value.ts'

/** Events of one object, for observers; `EventMap` has the payload of each. */
export interface TypedEvents<EventMap> {
  /** Calls `observer` on every such event; returns a function that stops it. */
  on<Name extends keyof EventMap>(name: Name, observer: (payload: EventMap[Name]) => void): () => void
  /** Resolves with the payload of the next such event that satisfies the predicate. */
  next<Name extends keyof EventMap>(
    name: Name,
    predicate?: (payload: EventMap[Name]) => boolean,
  ): Promise<EventMap[Name]>
}

/** The emitting side. An observer that throws is logged and disturbs nobody. */
export class TypedEventEmitter<EventMap> implements TypedEvents<EventMap> {
  readonly #observers = new Map<keyof EventMap, Set<(payload: never) => unknown>>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  on<Name extends keyof EventMap>(name: Name, observer: (payload: EventMap[Name]) => void): () => void {
    let observers = this.#observers.get(name)
    if (observers === undefined) {
      observers = new Set()
      this.#observers.set(name, observers)
    }
    // A fresh function per call, so that adding one observer twice means being told twice.
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
  ): Promise<EventMap[Name]> {
    return new Promise((resolve, reject) => {
      const stop = this.on(name, (payload) => {
        try {
          if (!predicate(payload)) return
          stop()
          resolve(payload)
        } catch (error) {
          stop()
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
  }

  /** Whether anybody would be told: lets hot paths skip building the payload. */
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
      try {
        const answer: unknown = observer(payload as never)
        // An async function passes for an observer; were it to reject unseen, it would end the process.
        if (answer instanceof Promise) void answer.catch(failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}
