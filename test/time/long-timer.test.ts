import { expect, test } from 'vitest'
import { setLongTimer, timerDelayMaxMs } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

test.each([0, 1, timerDelayMaxMs, timerDelayMaxMs + 1, 3 * timerDelayMaxMs + 5])(
  'a delay of %d ms is over when it is over, and not before',
  async (delayMs) => {
    const clock = new ManualClock()
    let fired = 0
    setLongTimer(clock, delayMs, () => fired++)
    if (delayMs > 0) await clock.advance(delayMs - 1)
    expect(fired).toBe(0)
    await clock.advance(1)
    expect(fired).toBe(1)
    expect(clock.timerCount).toBe(0)
  },
)

test('a timer that was armed again can be cancelled', async () => {
  const clock = new ManualClock()
  let fired = 0
  const timer = setLongTimer(clock, 2 * timerDelayMaxMs, () => fired++)
  await clock.advance(1.5 * timerDelayMaxMs)
  timer.cancel()
  expect(clock.timerCount).toBe(0)
  await clock.advance(timerDelayMaxMs)
  expect(fired).toBe(0)
})
