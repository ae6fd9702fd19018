import { describe, expect, it } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import { JobKey } from '../../src/core/key.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import {
  type IntervalParts,
  SimpleScheduleBuilder,
  type SimpleTrigger,
} from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

const start = Date.UTC(2026, 0, 1)

function simple(options: {
  count?: number
  intervalMs?: number
  endMs?: number
  startMs?: number
  misfire?: SimpleTrigger['misfireInstruction']
}): SimpleTrigger {
  const schedule = SimpleScheduleBuilder.simpleSchedule()
    .withRepeatCount(options.count ?? 0)
    .withIntervalInMilliseconds(options.intervalMs ?? 0)
    .withMisfireInstruction(options.misfire ?? 'smart')
  return TriggerBuilder.newTrigger()
    .withIdentity('t')
    .startAt(new Date(options.startMs ?? 0))
    .endAt(options.endMs === undefined ? null : new Date(options.endMs))
    .withSchedule(schedule)
    .build()
}

describe('the fire times of a simple trigger', () => {
  const five = simple({ count: 4, intervalMs: 10 })

  it.each([
    [-1, 0],
    [0, 10],
    [1, 10],
    [9, 10],
    [10, 20],
    [34, 40],
    [39, 40],
    [40, null],
    [41, null],
  ])('with interval 10 and count 4 are, after %d, %s', (after, expected) => {
    expect(five.fireTimeAfterMs(after)).toBe(expected)
  })

  it('end at the start plus count times interval', () => {
    expect(five.finalFireTimeMs()).toBe(40)
    expect(simple({}).finalFireTimeMs()).toBe(0)
    expect(simple({ count: -1, intervalMs: 10 }).finalFireTimeMs()).toBeNull()
  })

  it.each([
    [9, 10],
    [19, 20],
    [20, null],
    [29, null],
  ])('never reach an end of 30: after %d comes %s', (after, expected) => {
    expect(simple({ count: -1, intervalMs: 10, endMs: 30 }).fireTimeAfterMs(after)).toBe(expected)
  })

  it('have their last one before the end, which is exclusive', () => {
    expect(simple({ count: -1, intervalMs: 10, endMs: 30 }).finalFireTimeMs()).toBe(20)
    expect(simple({ count: -1, intervalMs: 10, endMs: 35 }).finalFireTimeMs()).toBe(30)
    expect(simple({ count: -1, intervalMs: 10, endMs: 0 }).finalFireTimeMs()).toBe(0)
  })

  it('hold a single fire where start and end are the same', () => {
    const scheduled = simple({ startMs: 100, endMs: 100 }).computeFirstFireTime(null)
    expect(scheduled.nextFireTime?.getTime()).toBe(100)
    const fired = scheduled.triggered(null)
    expect(fired).toMatchObject({ nextFireTimeMs: null, previousFireTimeMs: 100, timesTriggered: 1 })
    expect(fired.mayFireAgain()).toBe(false)
  })

  it('are found at once a century after the start', () => {
    const old = simple({ count: -1, intervalMs: 1 })
    const before = performance.now()
    for (let step = 0; step < 1000; step++) old.fireTimeAfterMs(Date.UTC(2070, 0, 1) + step)
    expect(performance.now() - before).toBeLessThan(1000)
  })
})

/** Rows of Java Quartz: [misfire instruction, next (relative to now, null = none), count, times triggered, start]. */
type MisfireRow = readonly [
  SimpleTrigger['misfireInstruction'],
  number | null | 'same',
  number,
  number,
  'now' | 'same',
]

describe('a simple trigger that misfired', () => {
  const now = start + 1_000_000
  const missed = (count: number, missedMs: number, intervalMs: number, fired: number) =>
    function apply(misfire: SimpleTrigger['misfireInstruction']): {
      before: SimpleTrigger
      after: SimpleTrigger
    } {
      const nextFireTimeMs = now - missedMs
      const before = simple({
        count,
        intervalMs,
        misfire,
        startMs: nextFireTimeMs - fired * intervalMs,
      }).withFireState({
        nextFireTimeMs,
        previousFireTimeMs: null,
        timesTriggered: fired,
        misfiredFireTimeMs: null,
      })
      return { before, after: before.updateAfterMisfire(null, now) }
    }

  const cases: readonly [string, ReturnType<typeof missed>, readonly MisfireRow[]][] = [
    [
      'one shot',
      missed(0, 250_000, 0, 0),
      [
        ['ignore', 'same', 0, 0, 'same'],
        ['smart', 0, 0, 0, 'same'],
        ['fireNow', 0, 0, 0, 'same'],
        ['rescheduleNowWithExistingRepeatCount', 0, 0, 0, 'now'],
        ['rescheduleNowWithRemainingRepeatCount', 0, 0, 0, 'now'],
        ['rescheduleNextWithRemainingCount', null, 0, 0, 'same'],
        ['rescheduleNextWithExistingCount', null, 0, 0, 'same'],
      ],
    ],
    [
      'count 10, 3 fired',
      missed(10, 250_000, 60_000, 3),
      [
        ['ignore', 'same', 10, 3, 'same'],
        ['smart', 0, 7, 0, 'now'],
        ['fireNow', 0, 3, 0, 'now'],
        ['rescheduleNowWithExistingRepeatCount', 0, 7, 0, 'now'],
        ['rescheduleNowWithRemainingRepeatCount', 0, 3, 0, 'now'],
        ['rescheduleNextWithRemainingCount', 50_000, 10, 8, 'same'],
        ['rescheduleNextWithExistingCount', 50_000, 10, 3, 'same'],
      ],
    ],
    [
      'endless, 3 fired',
      missed(-1, 250_000, 60_000, 3),
      [
        ['smart', 50_000, -1, 8, 'same'],
        ['fireNow', 0, -1, 3, 'now'],
        ['rescheduleNowWithExistingRepeatCount', 0, -1, 3, 'now'],
        ['rescheduleNowWithRemainingRepeatCount', 0, -1, 3, 'now'],
        ['rescheduleNextWithRemainingCount', 50_000, -1, 8, 'same'],
        ['rescheduleNextWithExistingCount', 50_000, -1, 3, 'same'],
      ],
    ],
    [
      'count 4 and over',
      missed(4, 650_000, 60_000, 3),
      [
        ['smart', 0, 1, 0, 'now'],
        ['fireNow', 0, 0, 0, 'now'],
        ['rescheduleNextWithRemainingCount', null, 4, 3, 'same'],
        ['rescheduleNextWithExistingCount', null, 4, 3, 'same'],
      ],
    ],
  ]

  for (const [name, apply, rows] of cases) {
    it.each(rows)(`(${name}) follows %s`, (misfire, next, count, times, startsAt) => {
      const { before, after } = apply(misfire)
      const expectedNext = next === 'same' ? before.nextFireTimeMs : next === null ? null : now + next
      expect(after).toMatchObject({
        nextFireTimeMs: expectedNext,
        repeatCount: count,
        timesTriggered: times,
        startTimeMs: startsAt === 'now' ? now : before.startTimeMs,
      })
    })
  }

  it('remembers the planned instant until it has fired', () => {
    const { before, after } = missed(10, 250_000, 60_000, 3)('fireNow')
    expect(after.misfiredFireTimeMs).toBe(before.nextFireTimeMs)
    expect(after.updateAfterMisfire(null, now + 5000).misfiredFireTimeMs).toBe(before.nextFireTimeMs)
    expect(after.triggered(null).misfiredFireTimeMs).toBeNull()
  })

  describe.each([
    ['that repeats', 5, 'rescheduleNowWithExistingRepeatCount'],
    ['that repeats', 5, 'fireNow'],
    ['that fires once', 0, 'fireNow'],
    ['that fires once', 0, 'smart'],
    ['that fires once', 0, 'rescheduleNowWithRemainingRepeatCount'],
  ] as const)('%s %d times more, by %s', (_kind, count, misfire) => {
    const endingAt = (endMs: number) =>
      simple({ count, intervalMs: 60_000, startMs: now - 500_000, endMs, misfire }).computeFirstFireTime(null)

    it.each([now - 1, now])('is finished when "now" is not before its end (%d)', (endMs) => {
      const trigger = endingAt(endMs)
      expect(trigger.updateAfterMisfire(null, now)).toMatchObject({
        nextFireTimeMs: null,
        startTimeMs: trigger.startTimeMs,
        misfiredFireTimeMs: null,
      })
    })

    it('fires now when its end is yet to come', () => {
      expect(endingAt(now + 1).updateAfterMisfire(null, now).nextFireTimeMs).toBe(now)
    })
  })

  it('still fires what it missed before its end when it ignores misfires', () => {
    const trigger = simple({ startMs: now - 500_000, endMs: now - 1, misfire: 'ignore' })
    const due = trigger.computeFirstFireTime(null)
    expect(due.updateAfterMisfire(null, now)).toBe(due)
  })
})

describe('the trigger builder', () => {
  it('makes a one-shot trigger that starts now when nothing is said', () => {
    const clock = new ManualClock(start)
    const trigger = TriggerBuilder.newTrigger({ clock, ids: seededIds(1) }).build()
    expect(trigger).toMatchObject({
      type: 'simple',
      startTimeMs: start,
      endTimeMs: null,
      repeatCount: 0,
      priority: 5,
      jobKey: null,
      calendarName: null,
      nextFireTimeMs: null,
      misfireInstruction: 'smart',
    })
    expect(trigger.key.toString()).toBe('DEFAULT.id-1-1')
  })

  it('keeps a copy of its data, and refuses what no store can keep', () => {
    const data = { nested: { n: 1 }, gone: undefined }
    const trigger = TriggerBuilder.newTrigger().usingJobData(data).build()
    data.nested.n = 2
    expect(JSON.stringify(trigger.jobDataMap)).toBe('{"nested":{"n":1}}')
    const wrong = TriggerBuilder.newTrigger().usingJobData('at', new Date(0))
    expect(() => wrong.build()).toThrow(/^Job data of trigger '.*' cannot be stored: 'jobDataMap.at' holds/)
  })

  it('takes everything a trigger has and hands it on without loss', () => {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity('name', 'group')
      .forJob('job', 'jobs')
      .withDescription('words')
      .withPriority(9)
      .modifiedByCalendar('holidays')
      .startAt(new Date(start))
      .endAt(new Date(start + 1000))
      .usingJobData({ a: 1, b: 2 })
      .usingJobData('b', 3)
      .withSchedule(SimpleScheduleBuilder.repeatSecondlyForTotalCount(4, 2).withMisfireInstruction('ignore'))
      .build()
    expect(trigger).toMatchObject({
      description: 'words',
      priority: 9,
      calendarName: 'holidays',
      startTimeMs: start,
      endTimeMs: start + 1000,
      jobDataMap: { a: 1, b: 3 },
      repeatCount: 3,
      repeatIntervalMs: 2000,
      misfireInstruction: 'ignore',
    })
    expect(trigger.jobKey?.equals(new JobKey('job', 'jobs'))).toBe(true)
    expect(trigger.getTriggerBuilder().build()).toEqual(trigger)
  })

  it('starts now by the clock that the builder of a trigger is given', () => {
    const clock = new ManualClock(new Date(start))
    const trigger = TriggerBuilder.newTrigger({ clock }).build()
    clock.jump(5000)
    expect(trigger.getTriggerBuilder({ clock }).startNow().build().startTimeMs).toBe(start + 5000)
  })

  it.each([
    [{ hours: 1, minutes: 1, seconds: 1, milliseconds: 1 }, 3_661_001],
    [{ minutes: 90 }, 5_400_000],
  ])('adds up the parts of an interval: %j', (parts: IntervalParts, ms) => {
    const schedule = SimpleScheduleBuilder.simpleSchedule().withInterval(parts).repeatForever()
    expect(TriggerBuilder.newTrigger().withSchedule(schedule).build().repeatIntervalMs).toBe(ms)
  })

  it.each([
    ['repeatIntervalMs', () => simple({ count: 3 })],
    ['repeatIntervalMs', () => simple({ count: 3, intervalMs: 1.5 })],
    ['repeatCount', () => simple({ count: -2, intervalMs: 1 })],
    ['endAt', () => simple({ startMs: 2, endMs: 1 })],
    ['totalCount', () => SimpleScheduleBuilder.repeatHourlyForTotalCount(0)],
    ['priority', () => TriggerBuilder.newTrigger().withPriority(1.5).build()],
    ['calendarName', () => TriggerBuilder.newTrigger().modifiedByCalendar(' ').build()],
  ])('refuses a wrong %s by name', (field, build) => {
    expect(build).toThrow(expect.objectContaining({ code: 'ERR_INVALID_TRIGGER', field }))
  })
})

it.each<[number, (builder: SimpleScheduleBuilder) => SimpleScheduleBuilder]>([
  [1001, (builder) => builder.withIntervalInSeconds(1.001)],
  [1005, (builder) => builder.withInterval({ seconds: 1.005 })],
  [3_960_000, (builder) => builder.withIntervalInHours(1.1)],
])('an interval of %d ms may be given as a fraction of a unit', (expected, set) => {
  const schedule = set(SimpleScheduleBuilder.simpleSchedule()).repeatForever()
  const { repeatIntervalMs } = TriggerBuilder.newTrigger().withSchedule(schedule).build()
  expect(repeatIntervalMs).toBe(expected)
})
