import { describe, expect, it, vi } from 'vitest'
import { InvalidArgumentError } from '../../src/core/errors.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const startMs = Date.UTC(2026, 0, 1)

describe('a manual clock', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, '1000', undefined])(
    'does not advance by %j, which would run timers for ever or set time back',
    async (ms) => {
      const clock = new ManualClock(startMs)
      await expect(clock.advance(ms as number)).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        field: 'ms',
      })
      expect([clock.now(), clock.elapsedMs()]).toEqual([startMs, 0])
    },
  )

  it('refuses a start and a jump that are no time', () => {
    for (const start of [Number.NaN, new Date(Number.NaN), '2026-01-01'] as never[]) {
      expect(() => new ManualClock(start)).toThrow(InvalidArgumentError)
    }
    expect(() => {
      new ManualClock().jump(Number.NaN)
    }).toThrow(InvalidArgumentError)
  })

  it('does not go back when a shorter advance ends after a longer one', async () => {
    const clock = new ManualClock(startMs)
    const longer = clock.advance(1000)
    const shorter = clock.advance(500)
    await Promise.all([longer, shorter])
    expect([clock.now(), clock.elapsedMs()]).toEqual([startMs + 1000, 1000])
  })

  it('moves while a test runner has replaced the timers of Node.js', async () => {
    vi.useFakeTimers()
    try {
      const clock = new ManualClock(startMs)
      const fired: string[] = []
      clock.setTimer(500, () => fired.push('timer'))
      clock.setImmediate(() => fired.push('immediate'))
      clock.setImmediate(() => fired.push('cancelled')).cancel()
      await clock.advance(1000)
      expect(fired).toEqual(['immediate', 'timer'])
    } finally {
      vi.useRealTimers()
    }
  })
})
