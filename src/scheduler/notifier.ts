import { SchedulerError } from '../core/errors.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import { disarm, logThrown } from '../core/thrown-value.ts'
import { unawaited } from '../core/unawaited.ts'
import type { SchedulerEventEmitter, SchedulerEventMap, SchedulerEventName } from '../listeners/events.ts'
import type { JobListener } from '../listeners/job-listener.ts'
import type { ListenerManager } from '../listeners/listener-manager.ts'
import type { SchedulerListener } from '../listeners/scheduler-listener.ts'
import type { TriggerListener } from '../listeners/trigger-listener.ts'

/**
 * Listeners being told. Null when there are none: then the caller goes on at once, and a firing that nobody watches
 * waits for nobody.
 */
export type Told = Promise<void> | null

/**
 * Tells observers and listeners. A listener is called as soon as the one before it has answered, and the first at
 * once, so listeners that answer synchronously see callbacks in the order in which things happened. A listener that
 * throws is reported and the next one is told all the same.
 */
export class Notifier {
  readonly events: SchedulerEventEmitter
  readonly listeners: ListenerManager
  readonly #logger: Logger
  readonly #pending = new Set<Promise<void>>()

  constructor(events: SchedulerEventEmitter, listeners: ListenerManager, logger: Logger) {
    this.events = events
    this.listeners = listeners
    this.#logger = logger
  }

  /** Emits the event and tells scheduler listeners; resolves when they have answered. */
  tell<Name extends SchedulerEventName>(
    name: Name,
    payload: SchedulerEventMap[Name],
    call: (listener: SchedulerListener) => unknown,
  ): Told {
    this.events.emit(name, payload)
    return this.callEach(name, this.listeners.getSchedulerListeners(), call)
  }

  /** The same for callers that cannot wait; `drain` waits for what is under way. */
  tellLater<Name extends SchedulerEventName>(
    name: Name,
    payload: SchedulerEventMap[Name],
    call: (listener: SchedulerListener) => unknown,
  ): void {
    this.track(this.tell(name, payload, call))
  }

  /** Listeners to tell about a job; one whose matcher throws is reported and left out. */
  jobListenersFor(key: JobKey): readonly JobListener[] {
    return this.listeners.jobListenersFor(key, this.#matcherFailed)
  }
  /** The same for a trigger. */
  triggerListenersFor(key: TriggerKey): readonly TriggerListener[] {
    return this.listeners.triggerListenersFor(key, this.#matcherFailed)
  }

  /** Calls listeners one after the other, isolating failures. */
  callEach<Listener extends object>(
    callback: string,
    listeners: readonly Listener[],
    call: (listener: Listener) => unknown,
  ): Told {
    return listeners.length === 0 ? null : this.#callEach(callback, listeners, call)
  }

  async #callEach<Listener extends object>(
    callback: string,
    listeners: readonly Listener[],
    call: (listener: Listener) => unknown,
  ): Promise<void> {
    for (const listener of listeners) {
      try {
        await call(listener)
      } catch (error) {
        this.#reportListener(callback, listener, error)
      }
    }
  }

  /** Reports a failure that no caller is waiting for: an event, scheduler listeners, and the log. */
  error(message: string, cause: unknown): void {
    const error = SchedulerError.is(cause)
      ? cause
      : new SchedulerError('ERR_SCHEDULER_STATE', message, { cause })
    logThrown(this.#logger, cause, message)
    this.tellLater('schedulerError', { message, error }, (listener) =>
      listener.schedulerError?.(message, error),
    )
  }

  /** Has `drain` wait for this. */
  track(told: Told): void {
    if (told === null) return
    this.#pending.add(told)
    const forgotten = told.finally(() => this.#pending.delete(told))
    unawaited(forgotten, (error) => {
      logThrown(this.#logger, error, 'Telling listeners has failed.')
    })
  }

  /** Resolves when nothing is being told any more. */
  async drain(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  readonly #matcherFailed = (listener: object, error: unknown): void => {
    this.#reportListener('its matcher', listener, error)
  }

  #reportListener(callback: string, listener: object, cause: unknown): void {
    disarm(cause)
    const name = 'name' in listener && typeof listener.name === 'string' ? ` '${listener.name}'` : ''
    const message = `Listener${name} threw in ${callback}.`
    const error = new SchedulerError('ERR_LISTENER_FAILED', message, { cause })
    // A listener that fails while it is told of an error would be told of its own failure for ever.
    if (callback === 'schedulerError') logThrown(this.#logger, cause, message)
    else this.error(message, error)
  }
}
