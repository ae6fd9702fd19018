import type { SchedulerSignaler } from './scheduler-signaler.ts'

/**
 * Keeps the signals of an operation until the operation is whole: a listener that is called by a signal may call the
 * store at once, and must find the operation done.
 */
export class SignalBuffer {
  #kept: ((signaler: SchedulerSignaler) => void)[] = []

  /** Keeps one signal: the name of the signaler's method and what to call it with. */
  add<Name extends keyof SchedulerSignaler>(
    name: Name,
    ...values: Parameters<SchedulerSignaler[Name]>
  ): void {
    this.keep((signaler) => {
      Reflect.apply(signaler[name], signaler, values)
    })
  }

  /** Keeps signals whose values are known only when the operation is whole. */
  keep(signals: (signaler: SchedulerSignaler) => void): void {
    this.#kept.push(signals)
  }

  /** Sends everything that was kept, in order. */
  flush(signaler: SchedulerSignaler): void {
    if (this.#kept.length === 0) return
    const kept = this.#kept
    this.#kept = []
    for (const signals of kept) signals(signaler)
  }
}
