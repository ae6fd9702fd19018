import { describe, expect, it } from 'vitest'
import { AdjustableClock } from '../../src/time/adjustable-clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const startMs = Date.UTC(2026, 0, 1)

function clocks(): { base: ManualClock; clock: AdjustableClock } {
  const base = new ManualClock(startMs)
  return { base, clock: new AdjustableClock(base) }
}

describe('an adjustable clock', () => {
  it('shows what the clock below shows, jumps included, until it is adjusted', async () => {
    const { base, clock } = clocks()
    await base.advance(500)
    base.jump(3_600_000)
    expect(clock.now()).toBe(base.now())
    expect(clock.offsetMs).toBe(0)
  })

  it('takes over a difference, and knows it afterwards', async () => {
    const { base, clock } = clocks()
    expect(clock.adjust(-7200, 5)).toBe(true)
    await base.advance(1000)
    expect(clock.now()).toBe(startMs + 1000 - 7200)
    expect(clock.offsetMs).toBe(-7200)
  })

  it.each([
    ['less than 10 milliseconds', 9, 1],
    ['no more than the measurement may be wrong by', 400, 401],
    ['what rounding adds to that, as when the store waited for a lock before it looked', 1251, 1250],
  ])('does not step by %s', (_what, aheadMs, uncertaintyMs) => {
    const { clock } = clocks()
    expect(clock.adjust(aheadMs, uncertaintyMs)).toBe(false)
    expect(clock.now()).toBe(startMs)
  })

  it('does not follow the clock below any more when somebody sets that', async () => {
    const { base, clock } = clocks()
    clock.adjust(0, 1)
    base.jump(-3_600_000)
    await base.advance(2000)
    expect(clock.now()).toBe(startMs + 2000)
    expect(clock.offsetMs).toBe(3_600_000)
  })

  it('fires timers by monotonic time, and never before the wall time that they were meant for', async () => {
    const { base, clock } = clocks()
    clock.adjust(12.7, 1)
    const targetMs = clock.now() + 250
    const firedAtMs: number[] = []
    clock.setTimer(targetMs - clock.now(), () => firedAtMs.push(clock.now()))
    await base.advance(251)
    expect(firedAtMs).toEqual([targetMs])
  })
})
