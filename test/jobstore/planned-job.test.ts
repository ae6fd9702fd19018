import { describe, expect, onTestFinished, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { inPlaceOf } from '../../src/jobstore/planned-job.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { FluentTriggerBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
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

test('a trigger whose next fire time is far away is not followed from fire to fire', () => {
  let asked = 0
  const calendar: Calendar = {
    type: 'counting',
    description: null,
    baseCalendar: null,
    isTimeIncluded() {
      asked++
      return true
    },
    nextIncludedTime(timeMs) {
      asked++
      return timeMs + 1
    },
    toJSON: () => ({ type: 'counting' }),
  }
  const everySecond = (priority: number): Trigger =>
    TriggerBuilder.newTrigger()
      .withIdentity('t')
      .forJob('job')
      .withPriority(priority)
      .modifiedByCalendar('calendar')
      .startAt(new Date(startMs))
      .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
      .build()
      .computeFirstFireTime(null)
  const nextFireTimeMs = startMs + 7 * 24 * hourMs
  const stored = everySecond(5).withFireState({
    nextFireTimeMs,
    previousFireTimeMs: startMs,
    timesTriggered: 1,
    misfiredFireTimeMs: null,
  })
  const replacement = { goesOnFrom: 'due', calendar, nowMs: startMs + 1500 } as const
  const next = inPlaceOf(stored, { ...replacement, trigger: everySecond(6) })
  expect(next).toMatchObject({ nextFireTimeMs, priority: 6 })
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThan(1000)
})

const everyMinute = (repeatCount: number): SimpleScheduleBuilder =>
  SimpleScheduleBuilder.simpleSchedule().withIntervalInMinutes(1).withRepeatCount(repeatCount)

interface Scene {
  readonly clock: ManualClock
  readonly scheduler: Scheduler
  readonly runs: number[]
  readonly store: (changes?: Partial<{ priority: number; repeatCount: number }>) => Promise<unknown>
  readonly waitMinutes: (minutes: number) => Promise<void>
}

describe.each([
  ['RAM', () => ramJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
])('definitions that are stored again in %s after a misfire', (_name, makeStore) => {
  /** A job that runs ten times a minute apart, of which it has missed some: four have run, and six are left. */
  const misfired = async (): Promise<Scene> => {
    const scene = await repeated()
    const { clock, scheduler, runs, waitMinutes } = scene
    await scheduler.standby()
    await waitMinutes(5)
    await scheduler.start()
    await clock.advance(1000)
    expect(runs).toHaveLength(4)
    return scene
  }

  /** The same, of which three have run and none was missed. */
  const repeated = async (): Promise<Scene> => {
    const clock = new ManualClock(startMs)
    const runs: number[] = []
    const definition = defineJob('job', () => {
      runs.push(clock.now() - startMs)
    })
    const scheduler = await createScheduler({
      jobs: [definition],
      clock,
      jobStore: makeStore(),
      logger: false,
    })
    onTestFinished(() => scheduler.shutdown())
    const job = JobBuilder.newJob(definition).withIdentity('job').storeDurably().build()
    const store = ({ priority = 5, repeatCount = 9 } = {}): Promise<unknown> => {
      const trigger = TriggerBuilder.newTrigger()
        .withIdentity('t')
        .withPriority(priority)
        .startAt(new Date(startMs))
        .withSchedule(everyMinute(repeatCount))
      return scheduler.changeDefinitions({ entries: [{ job, triggers: [trigger.build()] }] })
    }
    const waitMinutes = async (minutes: number): Promise<void> => {
      for (let quarter = 0; quarter < minutes * 4; quarter++) await clock.advance(15_000)
    }
    await store()
    await scheduler.start()
    await waitMinutes(2)
    return { clock, scheduler, runs, store, waitMinutes }
  }

  test.each<[string, { readonly priority?: number; readonly repeatCount?: number }, number]>([
    ['unchanged', {}, 10],
    ['with another priority', { priority: 7 }, 10],
    ['with two repeats more', { repeatCount: 11 }, 12],
    ['with two repeats less', { repeatCount: 7 }, 8],
  ])('%s do not repeat what has fired', async (_change, changes, fires) => {
    const { scheduler, runs, store, waitMinutes } = await misfired()
    await store(changes)
    await store(changes)
    await waitMinutes(1)
    await store(changes)
    expect((await scheduler.getTrigger('t'))?.priority).toBe(changes.priority ?? 5)
    await waitMinutes(20)
    expect(runs).toHaveLength(fires)
    expect(new Set(runs.slice(4).map((ms, index) => ms - index * 60_000)).size).toBe(1)
  })

  test.each<[string, (builder: FluentTriggerBuilder<Trigger>) => FluentTriggerBuilder<Trigger>]>([
    ['priority', (builder) => builder.withPriority(7)],
    ['repeats', (builder) => builder.withSchedule(everyMinute(2))],
  ])('do not repeat what has fired after an edit of the stored %s', async (_what, edit) => {
    const { scheduler, runs, store, waitMinutes } = await misfired()
    const stored = await scheduler.getTrigger('t')
    if (stored === null) expect.fail()
    await scheduler.rescheduleJob('t', edit(stored.getTriggerBuilder()).build(), { goesOnFrom: 'due' })
    await store()
    await waitMinutes(20)
    expect(runs).toHaveLength(10)
  })

  test('are refused where all that is left is a fire that has been', async () => {
    const { runs, store, waitMinutes } = await repeated()
    await expect(store({ repeatCount: 0 })).rejects.toMatchObject({ code: 'ERR_TRIGGER_NEVER_FIRES' })
    await waitMinutes(1)
    expect(runs).toEqual([0, 60_000, 120_000, 180_000])
  })

  test('are refused with fewer repeats than there have been', async () => {
    const { store } = await misfired()
    await expect(store({ repeatCount: 2 })).rejects.toMatchObject({ code: 'ERR_TRIGGER_NEVER_FIRES' })
  })
})
