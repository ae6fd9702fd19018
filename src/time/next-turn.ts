import type { Clock } from './clock.ts'

/** Resolves in the next turn of the event loop, after the timers and I/O that are due. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.setImmediate(resolve)
  })
}
