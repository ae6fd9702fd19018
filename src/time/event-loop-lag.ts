import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How late the event loop ran its timers since the last reading. Milliseconds. */
export interface EventLoopLag {
  readonly meanMs: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** How often the event loop is sampled. */
const resolutionMs = 20
const nanosecondsPerMs = 1e6

/** Samples the event loop of this thread until it is stopped; keeps no process alive. */
export class EventLoopLagMonitor {
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs })

  start(): void {
    this.#delay.enable()
  }

  stop(): void {
    this.#delay.disable()
  }

  /** What was since the last reading; zero when no sample was taken. */
  read(): EventLoopLag {
    const delay = this.#delay
    const isEmpty = delay.count === 0
    const lag = (nanoseconds: number): number =>
      isEmpty ? 0 : Math.max(0, nanoseconds / nanosecondsPerMs - resolutionMs)
    const read = { meanMs: lag(delay.mean), p99Ms: lag(delay.percentile(99)), maxMs: lag(delay.max) }
    delay.reset()
    return read
  }
}
