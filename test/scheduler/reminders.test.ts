import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import {
  DailyCalendar,
  defineJob,
  JobBuilder,
  JobExecutionError,
  jobKey,
  type ScheduleOptions,
} from '../../src/index.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const [second, hour] = [1000, 3_600_000]
const once = { key: 'k', in: '1h', durable: false } as const

describe.each([
  { name: 'RAM', make: () => new RAMJobStore() },
  { name: 'SQLite', make: () => sqliteJobStore({ filename: ':memory:' }) },
])('a schedule with a key that is not durable, on $name,', ({ make }) => {
  async function fixture() {
    const attempts: number[] = []
    const flaky = defineJob(
      'flaky',
      ({ attempt }) => {
        attempts.push(attempt)
        if (attempt === 1) throw new Error('may pass')
      },
      { retry: { attempts: 3, backoff: { type: 'fixed', initialMs: second, jitter: 0 } } },
    )
    const counter = defineJob<{ runs?: number; given?: string }>(
      'counter',
      (context) => {
        context.jobDataMap['runs'] = (context.mergedJobDataMap.runs ?? 0) + 1
      },
      { persistJobDataAfterExecution: true },
    )
    const hopeless = defineJob<{ flag: string }>('hopeless', ({ mergedJobDataMap: { flag } }) => {
      throw new JobExecutionError('no', { [flag]: true })
    })
    const jobs = [flaky, counter, hopeless]
    const { scheduler, clock, ran, everySecond } = await schedulerFixture({ jobStore: make(), jobs })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.start()
    const advance = async (ms: number): Promise<void> => {
      await clock.advance(ms)
      await scheduler.idle()
    }
    const declare = async (when: ScheduleOptions): Promise<string> => {
      const { change, nextFireTime } = await scheduler.schedule('note', when)
      await scheduler.idle()
      return `${change} ${nextFireTime === null ? 'over' : nextFireTime.getTime() - clock.now()}`
    }
    const left = async (): Promise<number> => (await scheduler.queryJobs({ take: 100 })).items.length
    return { scheduler, clock, ran, everySecond, attempts, counter, hopeless, advance, declare, left }
  }

  it('leaves nothing, so that its key may be scheduled anew', async () => {
    const { ran, advance, declare, left } = await fixture()
    expect([await declare(once), await declare(once)]).toEqual([`added ${hour}`, `unchanged ${hour}`])
    await advance(hour)
    expect([ran.length, await left()]).toEqual([1, 0])
    expect(await declare(once)).toBe(`added ${hour}`)
    await advance(hour)
    expect([ran.length, await left()]).toEqual([2, 0])
  })

  it('goes after its retries, and is the same until then', async () => {
    const { scheduler, attempts, advance, left } = await fixture()
    await scheduler.schedule('flaky', once)
    await advance(hour)
    expect([attempts.length, await left()]).toEqual([1, 1])
    const { change, nextFireTime } = await scheduler.schedule('flaky', once)
    expect([change, nextFireTime]).toEqual(['unchanged', null])
    await advance(second)
    expect([attempts, await left()]).toEqual([[1, 2], 0])
  })

  it('runs at once where its instant has passed, and leaves nothing either', async () => {
    const { clock, ran, advance, declare, left } = await fixture()
    await declare({ key: 'k', at: new Date(clock.now() - hour), durable: false })
    await advance(second)
    expect([ran.length, await left()]).toEqual([1, 0])
  })

  it('is durable from when it is declared so, and then runs once', async () => {
    const { ran, advance, declare, left } = await fixture()
    await declare(once)
    expect(await declare({ ...once, durable: true })).toBe(`changed ${hour}`)
    await advance(hour)
    expect([ran.length, await left()]).toEqual([1, 1])
    expect(await declare({ key: 'k', in: '1h' })).toBe('unchanged over')
  })

  it('goes once it is declared so, before it has run', async () => {
    const { ran, advance, declare, left } = await fixture()
    await declare({ key: 'k', in: '1h' })
    expect(await declare(once)).toBe(`changed ${hour}`)
    await advance(hour)
    expect([ran.length, await left()]).toEqual([1, 0])
  })

  it('knows nothing of what ran under its key while it was durable', async () => {
    const { clock, ran, advance, declare, left } = await fixture()
    await declare({ key: 'k', in: '1h' })
    await advance(hour)
    expect(await declare(once)).toBe(`changed ${hour}`)
    await advance(hour)
    expect([ran.length, await left()]).toEqual([2, 0])
    await declare({ key: 'k', every: '1h' })
    const past = { at: new Date(clock.now() - 2 * hour), key: 'k', durable: false }
    await declare(past)
    await advance(second)
    expect([ran.length, await left()]).toEqual([4, 0])
  })

  it('begins anew where it was durable, and what was left to be tried again goes', async () => {
    const { scheduler, attempts, advance, left } = await fixture()
    await scheduler.schedule('flaky', { key: 'k', in: '1h' })
    await advance(hour)
    expect((await scheduler.schedule('flaky', once)).change).toBe('changed')
    await advance(hour)
    expect(attempts).toEqual([1, 1])
    await advance(second)
    expect([attempts, await left()]).toEqual([[1, 1, 2], 0])
  })

  it('is not taken from its run by another declaration', async () => {
    const { scheduler, clock, attempts, advance, left } = await fixture()
    await scheduler.schedule('flaky', once)
    await advance(hour)
    await scheduler.schedule('flaky', { ...once, priority: 7 })
    await advance(second)
    expect([attempts, await left()]).toEqual([[1, 2], 0])
    expect(clock.now()).toBeGreaterThan(0)
  })

  it('keeps the data of a job that was durable, which others run as well', async () => {
    const { scheduler, counter, everySecond, advance } = await fixture()
    const job = JobBuilder.newJob(counter).withIdentity('k').usingJobData({ given: 'by hand' })
    await scheduler.scheduleJob(job.build(), everySecond('others'))
    await advance(2 * second)
    await scheduler.addJob(job.storeDurably().build(), { replace: true })
    await advance(2 * second)
    const data = async (): Promise<unknown> => (await scheduler.getJobDetail(jobKey('k')))?.jobDataMap
    const before = await data()
    expect(before).toEqual({ given: 'by hand', runs: 2 })
    await scheduler.schedule(counter, { key: 'k', in: '1h', durable: false })
    expect(await data()).toEqual(before)
  })

  it.each(['unscheduleFiringTrigger', 'unscheduleAllTriggers'])(
    'goes also when it throws %s',
    async (flag) => {
      const { scheduler, hopeless, advance, left } = await fixture()
      await scheduler.schedule(hopeless, { ...once, data: { flag } })
      await scheduler.schedule(hopeless, { in: '1h', data: { flag } })
      await scheduler.schedule(hopeless, { key: 'kept', in: '1h', data: { flag } })
      await advance(hour)
      expect(await left()).toBe(1)
      expect((await scheduler.schedule(hopeless, { ...once, data: { flag } })).change).toBe('added')
    },
  )

  it('begins anew where a calendar that it is given does not leave its instant', async () => {
    const { scheduler, clock, ran, advance, declare, left } = await fixture()
    await declare(once)
    const time = (ms: number): string => new Date(clock.now() + ms).toISOString().slice(11, 19)
    const [rangeStart, rangeEnd] = [time(hour - second), time(hour + second)]
    await scheduler.addCalendar('busy', new DailyCalendar({ rangeStart, rangeEnd, timeZone: 'UTC' }))
    await advance(2 * second)
    expect(await declare({ ...once, calendarName: 'busy' })).toBe(`changed ${hour}`)
    await advance(hour - second)
    expect(ran).toEqual([])
    await advance(second)
    expect([ran.length, await left()]).toEqual([1, 0])
  })

  it('waits paused for what has passed, in the place of a schedule that was over while it was paused', async () => {
    const { scheduler, clock, ran, advance, declare, left } = await fixture()
    const at = new Date(clock.now())
    await declare({ key: 'k', every: '1h' })
    await scheduler.pauseJob(jobKey('k'))
    expect(await declare({ key: 'k', at })).toBe('changed over')
    expect(await declare({ key: 'k', at, durable: false })).toBe('changed 0')
    await advance(second)
    expect(ran).toHaveLength(1)
    await scheduler.resumeJob(jobKey('k'))
    await advance(second)
    expect([ran.length, await left()]).toEqual([2, 0])
  })
})

it.each([
  { name: 'the same time', next: () => '1m', runs: [0], warned: 1 },
  { name: 'another time', next: (cursor: number) => `${cursor + 1}m`, runs: [0, 1, 2], warned: 0 },
])('a job that is not durable and declares itself with $name in its run', async ({ next, runs, warned }) => {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) }
  const cursors: number[] = []
  const poll = defineJob<{ cursor: number }>(
    'poll',
    async ({ mergedJobDataMap: { cursor }, scheduler: own }) => {
      cursors.push(cursor)
      if (cursor < 2)
        await own.schedule('poll', { ...once, in: next(cursor + 1), data: { cursor: cursor + 1 } })
    },
  )
  const { scheduler, clock } = await schedulerFixture({ jobs: [poll], logger })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  await scheduler.schedule(poll, { ...once, in: '1m', data: { cursor: 0 } })
  await clock.advance(600 * second)
  await scheduler.idle()
  expect(cursors).toEqual(runs)
  expect((await scheduler.queryJobs({ take: 100 })).items).toEqual([])
  const warning =
    "The schedule 'DEFAULT.k' was changed in its run or before a retry, and goes after that: 'at' or 'in' is the " +
    'same. For another run declare another time, schedule it after that, or use another key.'
  expect(warnings).toEqual(Array(warned).fill(warning))
})

describe('durable', () => {
  it.each([
    ['schedules that repeat', { key: 'k', every: '1h', durable: false }, /goes with 'at', 'in' only/],
    ['what could not be found again', { in: '1h', durable: true }, /'key' is missing/],
  ])('is refused for %s', async (_, options, message) => {
    const { scheduler } = await schedulerFixture()
    await expect(scheduler.schedule('note', options as unknown as ScheduleOptions)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'durable' }),
    )
    await expect(scheduler.schedule('note', options as unknown as ScheduleOptions)).rejects.toThrow(message)
    await scheduler.shutdown()
  })

  it('is refused for a set, which stores again what is not there', async () => {
    const note = defineJob('note', () => {})
    expect(() => defineSchedule(note, once)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'durable' }),
    )
    const { scheduler } = await schedulerFixture()
    const unchecked = { ...defineSchedule(note, { key: 'k', in: '1h' }), options: once }
    await expect(scheduler.reconcile('set', [unchecked])).rejects.toThrow(
      /a set stores again what is not there/,
    )
    await scheduler.shutdown()
  })
})
