import type { Clock, ClockTimer } from './clock.ts'

/**
 * Waits for `work`, no longer than `limitMs`; null: for as long as it takes. True when it has settled by then. A
 * rejection within the limit is thrown; a later one is ignored.
 */
export async function settledWithin(
  clock: Clock,
  limitMs: number | null,
  work: Promise<unknown>,
): Promise<boolean> {
  if (limitMs === null) {
    await work
    return true
  }
  let timer: ClockTimer | null = null
  const limit = new Promise<false>((resolve) => {
    timer = clock.setTimer(limitMs, () => {
      resolve(false)
    })
  })
  try {
    return await Promise.race([work.then(() => true), limit])
  } finally {
    ;(timer as ClockTimer | null)?.cancel()
  }
}
