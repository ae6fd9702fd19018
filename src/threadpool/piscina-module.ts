import type { ResourceLimits, SHARE_ENV, Worker } from 'node:worker_threads'

/** What piscina hands to its queue and its balancer; `queueOptionsSymbol` leads to what came with the task. */
export interface PiscinaTask {
  readonly [key: symbol]: unknown
}

export interface PiscinaTaskQueue {
  readonly size: number
  push(task: PiscinaTask): void
  unshift(task: PiscinaTask): void
  shift(): PiscinaTask | null
  remove(task: PiscinaTask): void
}

/** A thread as the balancer sees it. */
export interface PiscinaWorker {
  /** Its thread id. */
  readonly id: number
  /** How many tasks it has. */
  readonly currentUsage: number
}

export interface PiscinaOptions {
  readonly filename: string
  readonly name: string
  readonly minThreads: number
  readonly maxThreads: number
  readonly concurrentTasksPerWorker: number
  /** Milliseconds. */
  readonly idleTimeout: number
  readonly atomics: 'disabled' | 'async' | 'sync'
  readonly taskQueue: PiscinaTaskQueue
  readonly loadBalancer: (task: PiscinaTask, workers: readonly PiscinaWorker[]) => PiscinaWorker | null
  readonly recordTiming: boolean
  readonly stricterFIFO: boolean
  readonly resourceLimits?: ResourceLimits
  readonly execArgv?: string[]
  readonly env?: Record<string, string> | typeof SHARE_ENV
}

export interface Piscina<Task, Result> {
  readonly threads: readonly Worker[]
  run(task: Task): Promise<Result>
  destroy(): Promise<void>
  on(event: 'message' | 'error' | 'workerDestroy', listener: (value: unknown) => void): this
}

/** The part of piscina 5 that is used here. Its own types do not compile under `exactOptionalPropertyTypes`. */
export interface PiscinaModule {
  readonly Piscina: new <Task, Result>(options: PiscinaOptions) => Piscina<Task, Result>
  readonly queueOptionsSymbol: symbol
}

/** Loads piscina, which those who never run a worker job need not pay for. */
export async function loadPiscina(): Promise<PiscinaModule> {
  // Not a literal, or the compiler would check piscina's own types.
  const specifier: string = 'piscina'
  return (await import(specifier)) as PiscinaModule
}
