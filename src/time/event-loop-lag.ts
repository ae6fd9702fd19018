import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { processElapsedMs } from './clock.ts'

/** How late the event loop ran its timers since the last reading. Milliseconds. */
export interface EventLoopLag {
  readonly meanMs: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** How often the event loop is sampled unless the caller says otherwise. */
const resolutionDefaultMs = 20
const nanosecondsPerMs = 1e6

/** Samples the event loop of this thread until it is stopped; keeps no process alive. */
export class EventLoopLagMonitor {
  readonly #resolutionMs: number
  readonly #delay: IntervalHistogram

  constructor(resolutionMs: number = resolutionDefaultMs) {
    this.#resolutionMs = resolutionMs
    this.#delay = monitorEventLoopDelay({ resolution: resolutionMs })
  }

  start(): void {
    this.#delay.enable()
  }

  stop(): void {
    this.#delay.disable()
  }

  /** Whether a sample was taken since the last reading. */
  get hasSamples(): boolean {
    return this.#delay.count > 0
  }

  /** What was since the last reading; zero when no sample was taken. */
  read(): EventLoopLag {
    const lag = this.look()
    this.#delay.reset()
    return lag
  }

  /** The same, without an end to the time that is measured. */
  look(): EventLoopLag {
    const delay = this.#delay
    const lag = (nanoseconds: number): number =>
      this.hasSamples ? Math.max(0, nanoseconds / nanosecondsPerMs - this.#resolutionMs) : 0
    return { meanMs: lag(delay.mean), p99Ms: lag(delay.percentile(99)), maxMs: lag(delay.max) }
  }
}

/** Each sample wakes the process: at this interval that is 0.06 % of a core, at 20 ms it is 0.3 %. */
const recentResolutionMs = 100
/** Long enough for the second latest of a hundred samples to say something. */
const recentWindowMs = 15_000

/**
 * The lag of the last 15 to 30 seconds, at little cost. It begins to measure when it is first asked. Null before there
 * is a sample, after the end, and where the runtime does not measure this.
 */
export class RecentEventLoopLag {
  /** Null before the first question and after the end. */
  #monitor: EventLoopLagMonitor | null = null
  #isOver = false
  #sinceMs = 0
  /** Of the window before this one. */
  #beforeMs: number | null = null

  p99Ms(): number | null {
    const monitor = this.#monitor ?? this.#start()
    if (monitor === null) return null
    const before = this.#beforeMs
    const seen = monitor.hasSamples ? Math.round(monitor.look().p99Ms * 10) / 10 : null
    if (processElapsedMs() - this.#sinceMs >= recentWindowMs) {
      this.#beforeMs = seen
      this.#sinceMs = processElapsedMs()
      monitor.read()
    }
    return seen === null || before === null ? (seen ?? before) : Math.max(seen, before)
  }

  end(): void {
    this.#isOver = true
    this.#monitor?.stop()
    this.#monitor = null
  }

  #start(): EventLoopLagMonitor | null {
    if (this.#isOver) return null
    try {
      this.#monitor = new EventLoopLagMonitor(recentResolutionMs)
      this.#monitor.start()
      this.#sinceMs = processElapsedMs()
    } catch {
      // A runtime other than Node.js may lack it.
      this.#isOver = true
      this.#monitor = null
    }
    return this.#monitor
  }
}
