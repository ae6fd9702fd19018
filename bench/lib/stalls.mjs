import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Watches how long the event loop does not turn, in two ways: a heartbeat that asks for every turn (the time between
 * two turns is how long a request that came in between had to wait), and Node's own delay histogram (1 ms timer).
 */
export function watchStalls() {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  let longestMs = 0
  let lastMs = performance.now()
  let beating = true
  const beat = () => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    if (beating) setTimeout(beat, 1)
  }
  setTimeout(beat, 1)
  histogram.enable()
  return {
    /** Ends the watch; the longest stalls in milliseconds, less the millisecond that both ways ask for. */
    stop: () => {
      beating = false
      histogram.disable()
      longestMs = Math.max(longestMs, performance.now() - lastMs)
      return { heartbeatMs: longestMs - 1, histogramMs: histogram.max / 1e6 - 1 }
    },
  }
}

/** Lets everything that is pending have its turn. */
export function nextTurn() {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

export function sleep(delayMs) {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs)
  })
}
