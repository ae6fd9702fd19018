import { describe, expect, test } from 'vitest'
import { inPlaceOf } from '../../src/jobstore/planned-job.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

const startMs = Date.UTC(2026, 0, 1)
const hourMs = 3_600_000

/** The times from now on, as the trigger fires them. */
function fireTimes(trigger: Trigger, most: number): number[] {
  const times: number[] = []
  for (let next = trigger; next.nextFireTimeMs !== null && times.length < most; next = next.triggered(null)) {
    times.push(next.nextFireTimeMs)
  }
  return times
}

describe('a trigger that begins at its own start in the place of another one', () => {
  test('fires as often as its own count says', () => {
    const hourly = (repeatCount: number, from: number): Trigger =>
      TriggerBuilder.newTrigger()
        .withIdentity('t')
        .forJob('job')
        .startAt(new Date(from))
        .withSchedule(
          DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
            .inTimeZone('UTC')
            .withInterval(1, 'HOUR')
            .withRepeatCount(repeatCount),
        )
        .build()
        .computeFirstFireTime(null)
    let stored = hourly(100, startMs)
    for (let run = 0; run < 10; run++) stored = stored.triggered(null)
    const from = startMs + 24 * hourMs
    const replacement = { goesOnFrom: 'start', calendar: null, nowMs: startMs + 10 * hourMs } as const
    const next = inPlaceOf(stored, { ...replacement, trigger: hourly(2, from) })
    expect(fireTimes(next, 10)).toEqual([from, from + hourMs, from + 2 * hourMs])
    expect(next.previousFireTimeMs).toBe(stored.previousFireTimeMs)
  })
})
