import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { type MissedFires, missedFires } from '../../src/jobstore/missed-fires.ts'
import { MisfireBuffer } from '../../src/scheduler/misfire-buffer.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { DailyCalendar } from '../../src/triggers/calendars/daily-calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder as Simple } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import { plannedFireTimeMs, type Trigger } from '../../src/triggers/trigger.ts'

const clock = new ManualClock()
const startMs = clock.now()
const minute = 60_000
const yearMs = 365 * 86_400_000

function buffer(most = 100): MisfireBuffer {
  return new MisfireBuffer(most, 'node', 'unique')
}

function trigger(schedule: ScheduleBuilder<Trigger>): Trigger {
  return TriggerBuilder.newTrigger({ clock })
    .withIdentity('t')
    .forJob('j')
    .startAt(new Date(startMs))
    .withSchedule(schedule)
    .build()
    .computeFirstFireTime(null)
}

/** What the misfire instruction of a trigger leaves out when it is late by so much. */
function late(before: Trigger, lateMs: number): MissedFires {
  const nowMs = (before.nextFireTimeMs ?? 0) + lateMs
  const after = before.updateAfterMisfire(null, nowMs)
  const missed = missedFires({ before, after, calendar: null, cause: 'late', byPolicy: true, nowMs })
  return missed ?? expect.fail('fires are missed')
}

function note(fires: MissedFires | number): Parameters<MisfireBuffer['add']>[0] {
  return { triggerKey: triggerKey('t'), jobKey: null, cause: 'late', policy: null, noticedTimeMs: 1, fires }
}

function counted(...fires: readonly (MissedFires | number)[]) {
  const notes = buffer()
  for (const each of fires) notes.add(note(each))
  return notes.take().map(({ fromMs, toMs, count }) => [fromMs - startMs, toMs - startMs, count])
}

describe('the buffer of misfires', () => {
  test('counts the fires of any interval, however many', () => {
    const each = trigger(Simple.simpleSchedule().withIntervalInMilliseconds(1).repeatForever())
    expect(counted(late(each, yearMs))).toEqual([[0, yearMs, yearMs + 1]])
  })

  test('counts those of other schedules up to a number of steps, shared among them', () => {
    const each = trigger(CronScheduleBuilder.cronSchedule('* * * ? * *').withMisfireInstruction('doNothing'))
    expect(counted(late(each, 9 * minute))).toEqual([[0, 9 * minute, 541]])
    expect(counted(late(each, yearMs))).toEqual([[0, expect.any(Number), null]])
    expect(counted(...Array.from({ length: 100 }, () => late(each, 90_000)))[0]).toEqual([0, 90_000, 91])
    expect(counted(...Array.from({ length: 100 }, () => late(each, 9 * minute)))[0]).toEqual([
      0,
      expect.any(Number),
      null,
    ])
  })

  test('leaves out the first one when a firing stands for it, and all where there is no other', () => {
    const coalescing = trigger(
      CronScheduleBuilder.cronSchedule('0 * * ? * *').withMisfireInstruction('fireOnceNow'),
    )
    expect(counted(late(coalescing, 3 * minute))).toEqual([[minute, 3 * minute, 3]])
    expect(counted(late(trigger(Simple.simpleSchedule()), minute))).toEqual([])
  })

  test('follows the calendar, and goes on without one that fails', () => {
    const each = trigger(CronScheduleBuilder.cronSchedule('0 * * ? * *').withMisfireInstruction('doNothing'))
    const calendar = new DailyCalendar({ rangeStart: '00:02', rangeEnd: '00:04', timeZone: 'UTC' })
    const missed = { ...late(each, 9 * minute), calendar }
    expect(counted(missed)).toEqual([[0, 9 * minute, 7]])
    const failing: Calendar = {
      type: 'failing',
      description: null,
      baseCalendar: null,
      isTimeIncluded: () => {
        throw new Error('of no use')
      },
      nextIncludedTime: () => null,
      toJSON: () => ({ type: 'failing' }),
    }
    expect(counted({ ...missed, calendar: failing })).toEqual([[0, 10 * minute - 1, null]])
  })

  test('keeps a bounded number, also of those that it took back', () => {
    const notes = buffer(10)
    let dropped = 0
    for (let count = 0; count < 100; count++) dropped += notes.add(note(count))
    dropped += notes.giveBack(notes.take())
    dropped += notes.giveBack(notes.take())
    const left = notes.take()
    expect(left.length + dropped).toBe(100)
    expect(left.length).toBeLessThanOrEqual(10)
    expect(left.at(-1)?.fromMs).toBe(99)
    expect(notes.size).toBe(0)
  })

  test('gives ids that sort in the order of the notes', () => {
    const notes = buffer()
    for (let count = 0; count < 50; count++) notes.add(note(count))
    const ids = notes.take().map(({ id }) => id)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(50)
  })

  test('agrees with following an interval from fire to fire', () => {
    const instructions = [
      'rescheduleNextWithExistingCount',
      'rescheduleNextWithRemainingCount',
      'rescheduleNowWithExistingRepeatCount',
      'rescheduleNowWithRemainingRepeatCount',
    ] as const
    fc.assert(
      fc.property(
        fc.constantFrom(...instructions),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: -1, max: 30 }).filter((count) => count !== 0),
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 500 }),
        (instruction, everyMs, repeatCount, firstLateMs, thenLateMs) => {
          const schedule = Simple.simpleSchedule()
            .withIntervalInMilliseconds(everyMs)
            .withRepeatCount(repeatCount)
            .withMisfireInstruction(instruction)
          const first = trigger(schedule)
          const again = first.updateAfterMisfire(null, startMs + firstLateMs)
          for (const before of again.nextFireTimeMs === null ? [first] : [first, again]) {
            const nowMs = (before.nextFireTimeMs ?? 0) + thenLateMs
            const after = before.updateAfterMisfire(null, nowMs)
            const missed = missedFires({
              before,
              after,
              calendar: null,
              cause: 'late',
              byPolicy: true,
              nowMs,
            })
            if (missed === null) continue
            const naive = followed(missed)
            const expected =
              naive.length === 0
                ? []
                : [[(naive[0] ?? 0) - startMs, (naive.at(-1) ?? 0) - startMs, naive.length]]
            expect(counted(missed)).toEqual(expected)
          }
        },
      ),
      { seed: 11, numRuns: 500 },
    )
  })
})

function followed({ trigger: before, keepsFirst, untilMs }: MissedFires): number[] {
  const times: number[] = []
  let current = before
  let isFirst = true
  while (current.nextFireTimeMs !== null && current.nextFireTimeMs <= untilMs) {
    if (!isFirst) times.push(current.nextFireTimeMs)
    else if (!keepsFirst) times.push(plannedFireTimeMs(current) ?? 0)
    isFirst = false
    current = current.triggered(null)
  }
  return times
}
