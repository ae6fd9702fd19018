import { describe, expect, it } from 'vitest'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

describe('ScheduledExecutor', () => {
  it('runs a task once its delay has passed and answers what it returned', async () => {
    const clock = new ManualClock()
    const executor = new ScheduledExecutor({ clock })
    const future = executor.schedule(() => 42, 1000)
    await clock.advance(999)
    expect(future.isDone).toBe(false)
    expect(future.getDelay()).toBe(1)
    await clock.advance(1)
    expect(future.isDone).toBe(true)
    expect(await future).toBe(42)
    expect(clock.timerCount).toBe(0)
  })

  it('keeps a fixed rate to its planned series and counts a fixed delay from the end', async () => {
    const clock = new ManualClock()
    const executor = new ScheduledExecutor({ clock, corePoolSize: 2 })
    const rate: number[] = []
    const delay: number[] = []
    const slow = (starts: number[]) => async (): Promise<void> => {
      starts.push(clock.elapsedMs())
      await new Promise<void>((resolve) => clock.setTimer(250, resolve))
    }
    executor.scheduleAtFixedRate(slow(rate), 100, 100)
    executor.scheduleWithFixedDelay(slow(delay), 100, 100)
    await clock.advance(1100)
    expect(rate).toEqual([100, 350, 600, 850, 1100])
    expect(delay).toEqual([100, 450, 800])
    executor.shutdown()
    await clock.advance(1000)
    expect(executor.isTerminated).toBe(true)
  })
})
