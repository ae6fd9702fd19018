import { expect, test } from 'vitest'

interface PageClock {
  readonly nowMs: () => number
  readonly serverSaysNow: (serverMs: number, askedMs: number) => void
}

/** Its types are those of a browser. */
const clock = new URL('../../dashboard/src/time/clock.ts', import.meta.url).href

test('the clock of the server is believed when its answer was quick', async () => {
  const { nowMs, serverSaysNow } = (await import(clock)) as PageClock
  serverSaysNow(Date.now() + 60_000, nowMs())
  expect(nowMs() - Date.now()).toBeGreaterThan(59_000)
  // An answer that took eight seconds may have been made at any of them.
  serverSaysNow(Date.now() + 52_000, nowMs() - 8000)
  expect(nowMs() - Date.now()).toBeGreaterThan(59_000)
  serverSaysNow(Date.now(), nowMs())
  expect(Math.abs(nowMs() - Date.now())).toBeLessThan(1000)
})
