import type { MessagePort, ResourceLimits, SHARE_ENV, Worker } from 'node:worker_threads'

export interface PiscinaOptions {
  readonly filename: string
  readonly name: string
  readonly minThreads: number
  readonly maxThreads: number
  /** Milliseconds. */
  readonly idleTimeout: number
  readonly atomics: 'disabled' | 'async' | 'sync'
  readonly recordTiming: boolean
  readonly resourceLimits?: ResourceLimits
  readonly execArgv?: string[]
  readonly env?: Record<string, string> | typeof SHARE_ENV
}

export interface PiscinaRunOptions {
  readonly transferList: readonly MessagePort[]
  /** Aborting it while the task runs terminates the thread. */
  readonly signal: AbortSignal
}

/** The payload of the event `workerDestroy`; the id is -1 once the thread has exited. */
export interface PiscinaWorker {
  readonly id: number
}

export interface Piscina<Task> {
  readonly threads: readonly Worker[]
  run(task: Task, options?: PiscinaRunOptions): Promise<unknown>
  destroy(): Promise<void>
  on(event: 'message' | 'error' | 'workerDestroy', listener: (value: unknown) => void): this
}

/** The part of piscina 5 that is used here. Its own types do not compile under `exactOptionalPropertyTypes`. */
export interface PiscinaModule {
  readonly Piscina: new <Task>(options: PiscinaOptions) => Piscina<Task>
}

/** Loads piscina when the first worker job needs it. */
export async function loadPiscina(): Promise<PiscinaModule> {
  // Not a literal, or the compiler would check piscina's own types.
  const specifier: string = 'piscina'
  return (await import(/* webpackIgnore: true */ specifier)) as PiscinaModule
}
