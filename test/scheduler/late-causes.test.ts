import { describe, expect, test } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { LateCauses } from '../../src/scheduler/late-causes.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

const second = 1000
const minute = 60 * second

function rig() {
  const clock = new ManualClock()
  const startMs = clock.now()
  const causes = new LateCauses(clock, minute)
  /** Why a trigger that was planned so long after the start is late. */
  const at = (plannedMs: number): string => {
    const builder = TriggerBuilder.newTrigger({ clock }).withIdentity('t').forJob('j')
    return causes.of(
      builder
        .startAt(new Date(startMs + plannedMs))
        .build()
        .computeFirstFireTime(null),
    )
  }
  return { clock, causes, at, startMs }
}

describe('why a trigger is late', () => {
  test('is an outage before the loop looks for the first time, and while it looks no more', async () => {
    const { clock, causes, at } = rig()
    expect(at(0)).toBe('outage')
    await clock.advance(minute)
    causes.looked()
    expect(at(0)).toBe('outage')
    causes.sleepsUntil(clock.now() + 30 * second)
    await clock.advance(30 * second)
    expect(at(70 * second)).toBe('late')
    await clock.advance(10 * minute)
    expect(at(2 * minute)).toBe('outage')
    causes.looked()
    expect(at(2 * minute)).toBe('outage')
    expect(at(70 * second)).toBe('late')
  })

  test('is a full pool while the loop waits for a thread, in one stretch when it has one now and then', async () => {
    const { clock, causes, at } = rig()
    causes.looked()
    for (let count = 0; count < 500; count++) {
      causes.waitsForThread()
      await clock.advance(10 * second)
      causes.waitsNoMore()
      causes.looked()
    }
    expect(at(5 * second)).toBe('poolFull')
    expect(at(4000 * second)).toBe('poolFull')
    expect(clock.timerCount).toBe(0)
  })

  test.each(['the thread comes before the timer', 'the timer comes first'])(
    'is an outage while the process is frozen in its wait for a thread; %s',
    async (order) => {
      const { clock, causes, at } = rig()
      causes.looked()
      causes.waitsForThread()
      await clock.advance(minute)
      expect(at(50 * second)).toBe('poolFull')
      // The wall clock alone goes on.
      clock.jump(10 * minute)
      if (order === 'the timer comes first') await clock.advance(second)
      expect(at(50 * second)).toBe('poolFull')
      expect(at(5 * minute)).toBe('outage')
      causes.waitsNoMore()
      causes.looked()
      expect(at(50 * second)).toBe('poolFull')
      expect(at(5 * minute)).toBe('outage')
    },
  )

  test('is an outage while the loop rests in standby after a wait for a thread', async () => {
    const { clock, causes, at } = rig()
    causes.looked()
    causes.waitsForThread()
    await clock.advance(minute)
    causes.waitsNoMore()
    await clock.advance(10 * minute)
    causes.looked()
    expect(at(50 * second)).toBe('poolFull')
    expect(at(5 * minute)).toBe('outage')
  })

  test('is its job where that has run for long', async () => {
    const { clock, causes, at, startMs } = rig()
    causes.looked()
    causes.sleepsUntil(clock.now() + 10 * minute)
    causes.blocked(jobKey('j'), startMs, startMs + 5 * minute)
    expect(at(minute)).toBe('blocked')
    expect(at(6 * minute)).toBe('late')
    causes.blocked(jobKey('j'), startMs + 6 * minute, startMs + 6 * minute + second)
    expect(at(minute)).toBe('blocked')
  })

  test('is known of a bounded number of jobs and gaps', async () => {
    const { clock, causes, at, startMs } = rig()
    causes.looked()
    for (let count = 0; count < 1000; count++) {
      causes.blocked(jobKey(`other ${String(count)}`), startMs, startMs + 5 * minute)
    }
    causes.blocked(jobKey('j'), startMs, startMs + 5 * minute)
    expect(at(minute)).toBe('blocked')
    for (let count = 0; count < 1001; count++) {
      causes.blocked(jobKey(`more ${String(count)}`), startMs, startMs + 5 * minute)
    }
    expect(at(0)).toBe('outage')
    for (let count = 0; count < 101; count++) {
      await clock.advance(minute)
      causes.looked()
      causes.sleepsUntil(clock.now() + minute)
      await clock.advance(minute)
      causes.looked()
    }
    expect(at(0)).toBe('late')
  })
})
