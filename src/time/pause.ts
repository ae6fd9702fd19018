import type { Clock } from './clock.ts'

/** Resolves after a time, or as soon as `stop` is aborted; at once when the time is zero. */
export function pause(clock: Clock, delayMs: number, stop?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (delayMs <= 0 || stop?.aborted === true) {
      resolve()
      return
    }
    const end = (): void => {
      timer.cancel()
      // A signal may outlive many pauses.
      stop?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.setTimer(delayMs, end)
    stop?.addEventListener('abort', end)
  })
}
