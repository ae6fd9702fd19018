import { SchedulerError } from '../core/errors.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import { describeValue } from '../core/options.ts'
import { unawaited } from '../core/promises.ts'
import { disarm, logThrown } from '../core/thrown-value.ts'
import type { SchedulerEventEmitter, SchedulerEventMap, SchedulerEventName } from '../listeners/events.ts'
import type { JobListener } from '../listeners/job-listener.ts'
import type { ListenerManager } from '../listeners/listener-manager.ts'
import type { SchedulerListener } from '../listeners/scheduler-listener.ts'
import type { TriggerListener } from '../listeners/trigger-listener.ts'

/**
 * Calls of listeners under way. Null when there are no listeners: the caller then goes on without a turn of the
 * microtask queue.
 */
export type Told = Promise<void> | null

/**
 * Emits events and calls listeners. The first listener is called at once, each other one as soon as the one before it
 * has answered, so listeners that answer synchronously see callbacks in the order in which things happened. A listener
 * that throws is reported, and the next one is called.
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

  /**
   * Emits the event and calls scheduler listeners; resolves when they have answered.
   *
   * @param when when to call the listeners; without it, at once
   */
  tell<Name extends SchedulerEventName>(
    name: Name,
    payload: SchedulerEventMap[Name],
    call: (listener: SchedulerListener) => unknown,
    when?: (call: () => Told) => Told,
  ): Told {
    this.events.emit(name, payload)
    if (!this.listeners.hasSchedulerListeners) return null
    const callThem = (): Told => this.callEach(name, this.listeners.getSchedulerListeners(), call)
    return when === undefined ? callThem() : when(callThem)
  }

  /** The same for callers that cannot wait; `drain` waits for the calls. */
  tellLater<Name extends SchedulerEventName>(
    name: Name,
    payload: SchedulerEventMap[Name],
    call: (listener: SchedulerListener) => unknown,
  ): void {
    this.track(this.tell(name, payload, call))
  }

  /** Listeners of a job; a listener whose matcher throws is reported and left out. */
  jobListenersFor(key: JobKey): readonly JobListener[] {
    return this.listeners.jobListenersFor(key, this.#matcherFailed)
  }
  /** Listeners of a trigger, likewise. */
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
      : new SchedulerError('ERR_SCHEDULER_FAILURE', message, { cause })
    logThrown(this.#logger, cause, message)
    this.tellLater('schedulerError', { message, error }, (listener) =>
      listener.schedulerError?.(message, error),
    )
  }

  /** One more failure of a kind that is reported already. */
  detail(message: string, cause: unknown): void {
    logThrown(this.#logger, cause, message, {}, 'debug')
  }

  /** What was reported as an error has ended: a line of the log, which watchers of errors would look for. */
  errorEnded(message: string): void {
    this.#logger.info({}, message)
  }

  /** Makes `drain` wait for these calls. */
  track(told: Told): void {
    if (told === null) return
    this.#pending.add(told)
    const forgotten = told.finally(() => this.#pending.delete(told))
    unawaited(forgotten, (error) => {
      logThrown(this.#logger, error, 'Calling listeners has failed.')
    })
  }

  /** Resolves when no tracked call is under way. */
  async drain(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  readonly #matcherFailed = (listener: object, error: unknown): void => {
    this.#reportListener('its matcher', listener, error)
  }

  /** Reports a listener that may have meant a veto, and has not said so. */
  noVeto(listener: TriggerListener, answer: unknown): void {
    const message =
      `Listener '${listener.name}' answered ${describeValue(answer)} in vetoJobExecution, which is no veto: answer ` +
      'true to keep the job from running, or else false.'
    this.error(message, new SchedulerError('ERR_LISTENER_FAILED', message))
  }

  #reportListener(callback: string, listener: object, cause: unknown): void {
    disarm(cause)
    const name = 'name' in listener && typeof listener.name === 'string' ? ` '${listener.name}'` : ''
    const message = `Listener${name} threw in ${callback}.`
    const error = new SchedulerError('ERR_LISTENER_FAILED', message, { cause })
    // A listener that fails in `schedulerError` would be called with its own failure for ever.
    if (callback === 'schedulerError') logThrown(this.#logger, cause, message)
    else this.error(message, error)
  }
}
