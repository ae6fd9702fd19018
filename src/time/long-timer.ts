import { type Clock, type ClockTimer, timerDelayMaxMs } from './clock.ts'

/** As `clock.setTimer`, for delays of any length: past 24.8 days the timer is armed again as often as it takes. */
export function setLongTimer(clock: Clock, delayMs: number, onFire: () => void): ClockTimer {
  const endMs = clock.elapsedMs() + delayMs
  const arm = (leftMs: number): ClockTimer =>
    clock.setTimer(leftMs, () => {
      const stillMs = endMs - clock.elapsedMs()
      if (leftMs > timerDelayMaxMs && stillMs > 0) timer = arm(stillMs)
      else onFire()
    })
  let timer = arm(delayMs)
  return {
    cancel: () => {
      timer.cancel()
    },
  }
}
