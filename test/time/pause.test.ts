import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { pause } from '../../src/time/pause.ts'

/** A pause and whether it is over. */
function begun(clock: ManualClock, delayMs: number, stop?: AbortSignal): { isOver: boolean } {
  const state = { isOver: false }
  const over = (): void => {
    state.isOver = true
  }
  pause(clock, delayMs, stop).then(over, over)
  return state
}

test('a pause lasts as long as it was asked to', async () => {
  const clock = new ManualClock()
  const state = begun(clock, 1000)
  await clock.advance(999)
  expect(state.isOver).toBe(false)
  await clock.advance(1)
  expect(state.isOver).toBe(true)
})

test('no time is no timer', async () => {
  const clock = new ManualClock()
  await pause(clock, 0)
  expect(clock.timerCount).toBe(0)
})

test('a signal ends it, and has no listener left of this pause and of those before', async () => {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const { signal } = stopping
  const first = begun(clock, 1000, signal)
  await clock.advance(1000)
  expect([first.isOver, getEventListeners(signal, 'abort')]).toEqual([true, []])
  const second = begun(clock, 1000, signal)
  stopping.abort()
  await clock.settle()
  expect([second.isOver, clock.timerCount, getEventListeners(signal, 'abort')]).toEqual([true, 0, []])
  await pause(clock, 1000, signal)
  expect(clock.timerCount).toBe(0)
})
