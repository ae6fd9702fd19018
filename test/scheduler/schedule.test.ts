import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import type { ScheduleOptions } from '../../src/jobs/schedule-options.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import { CronTrigger } from '../../src/triggers/families/cron/cron-trigger.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const report = defineJob<{ to: string; copies?: number }>('report', () => {})
const plain = defineJob('plain', () => {})
const counter = defineJob<{ count: number }>('counter', () => {}, { persistJobDataAfterExecution: true })

const fixture = (): ReturnType<typeof schedulerFixture> =>
  schedulerFixture({ jobs: [report, plain, counter] })

describe('schedule', () => {
  it('stores a job and its trigger under one key', async () => {
    const { scheduler, told, clock } = await fixture()
    const done = await scheduler.schedule(report, { key: 'daily', every: '10s', data: { to: 'a' } })
    expect(done).toEqual({ key: jobKey('daily'), change: 'added', nextFireTime: new Date(clock.now()) })
    expect((await scheduler.getJobDetail(jobKey('daily')))?.jobDataMap).toEqual({ to: 'a' })
    expect((await scheduler.getTrigger(triggerKey('daily')))?.jobKey?.name).toBe('daily')
    expect(told).toEqual(['jobAdded daily', 'jobScheduled daily'])
  })

  it.each<[ScheduleOptions, string]>([
    [{ cron: '0 7 * * MON-FRI', zone: 'Europe/Paris' }, '2026-01-02T06:00:00.000Z'],
    [{ cron: '30 0 7 ? * MON-FRI', zone: 'UTC' }, '2026-01-01T07:00:30.000Z'],
    [{ cron: '@daily', zone: 'UTC' }, '2026-01-02T00:00:00.000Z'],
    [{ cron: '0 7 * * *\n', zone: 'UTC' }, '2026-01-01T07:00:00.000Z'],
    [{ cron: '0 0 7 * * 1-5', dialect: 'spring', zone: 'UTC' }, '2026-01-01T07:00:00.000Z'],
    [{ cron: '*/20 0 7 * * 4', dialect: 'unix', zone: 'UTC' }, '2026-01-01T07:00:00.000Z'],
    [{ cron: '0 0 7 ? * 5', dialect: 'quartz', zone: 'UTC' }, '2026-01-01T07:00:00.000Z'],
    [{ daily: '07:05', zone: 'UTC' }, '2026-01-01T07:05:00.000Z'],
    [{ daily: '7:05:30', zone: 'UTC' }, '2026-01-01T07:05:30.000Z'],
    [
      { daily: '02:30', zone: 'America/New_York', startAt: new Date('2026-03-08T05:00Z') },
      '2026-03-08T07:00:00.000Z',
    ],
    [
      { daily: '02:30', zone: 'America/New_York', dst: 'quartz', startAt: new Date('2026-03-08T05:00Z') },
      '2026-03-09T06:30:00.000Z',
    ],
    [
      { cron: '30 2 * * *', zone: 'America/New_York', dst: 'quartz', startAt: new Date('2026-03-08T05:00Z') },
      '2026-03-09T06:30:00.000Z',
    ],
    [{ every: '1h30m', startAt: new Date('2026-01-03T00:00:00Z') }, '2026-01-03T00:00:00.000Z'],
    [{ at: new Date('2026-02-01T00:00:00Z') }, '2026-02-01T00:00:00.000Z'],
    [{ in: '5m' }, '2026-01-01T06:35:00.000Z'],
    [{ in: 1000 }, '2026-01-01T06:30:01.000Z'],
  ])('understands %j', async (options, expected) => {
    const { scheduler, clock } = await fixture()
    clock.jump(Date.parse('2026-01-01T06:30:00Z') - clock.now())
    const { nextFireTime } = await scheduler.schedule(plain, options)
    expect(nextFireTime?.toISOString()).toBe(expected)
  })

  it('is there for a job, with the same types and checks', async () => {
    const answers: unknown[] = []
    const order = defineJob<{ id: string }>('order', async ({ scheduler, mergedJobDataMap: { id } }) => {
      const soon = { key: `report-${id}`, in: '1h' } as const
      answers.push((await scheduler.schedule(report, { ...soon, data: { to: 'a' } })).change)
      answers.push((await scheduler.schedule(report, { ...soon, data: { to: 'a' } })).change)
      // @ts-expect-error the data of the job are missing
      answers.push((await scheduler.schedule(report, { key: 'untyped', in: '1h' })).change)
      answers.push((await scheduler.runNow('untyped')).group)
      // @ts-expect-error nothing says when
      await scheduler.schedule(plain, {}).catch((error: unknown) => answers.push(error))
    })
    const { scheduler } = await schedulerFixture({ jobs: [report, plain, order] })
    await scheduler.start()
    await scheduler.schedule(order, { key: 'order', in: 0, data: { id: '7' } })
    await scheduler.idle()
    expect(answers).toMatchObject(['added', 'unchanged', 'added', 'DEFAULT', { field: 'cron' }])
    expect(await scheduler.checkExists(jobKey('report-7'))).toBe(true)
  })

  it('refuses a time that cannot be read where it is defined', () => {
    const wrong: readonly [ScheduleOptions, object][] = [
      [{ every: 'often' }, { field: 'every' }],
      [{ every: '10' }, { field: 'every', message: expect.stringContaining("such as '10s'") as string }],
      [
        { in: '1.5' },
        { field: 'in', message: expect.stringContaining('the number 1.5 for milliseconds') as string },
      ],
      [{ in: 'a while' }, { field: 'in' }],
      [{ daily: '25:00' }, { field: 'daily' }],
      [{ cron: '61 * * * *' }, { code: 'ERR_INVALID_CRON_EXPRESSION', field: 'minute' }],
      [
        { cron: '0 7 * * *', zone: 'Nowhere' },
        { code: 'ERR_UNKNOWN_TIME_ZONE', field: 'zone' },
      ],
    ]
    for (const [when, error] of wrong) {
      const message = expect.stringContaining('defineSchedule: ') as string
      expect(() => defineSchedule(plain, { key: 'k', ...when })).toThrow(
        expect.objectContaining({ ...error, message }) as Error,
      )
    }
  })

  it('refuses data that would be stored empty', async () => {
    const { scheduler } = await fixture()
    for (const data of [new Map([['to', 'x']]), new Date(0), Promise.resolve({ to: 'x' })] as never[]) {
      const wrong = { field: 'data', message: expect.stringContaining('must be an object') as string }
      await expect(scheduler.schedule(plain, { key: 'k', in: '1h', data })).rejects.toMatchObject(wrong)
      await expect(scheduler.runNow('k', data)).rejects.toMatchObject(wrong)
    }
  })

  it('leaves alone what is the same, and changes what is not', async () => {
    const { scheduler, clock, told } = await fixture()
    const options = { key: 'k', every: '10m', data: { to: 'a' } } as const
    await scheduler.schedule(report, options)
    await scheduler.start()
    await scheduler.idle()
    await clock.advance(60_000)
    told.length = 0
    expect((await scheduler.schedule(report, { ...options })).change).toBe('unchanged')
    expect(told).toEqual([])
    const before = await scheduler.getTrigger(triggerKey('k'))
    expect(before?.nextFireTimeMs).toBe(clock.now() + 540_000)
    const done = await scheduler.schedule(report, { ...options, data: { to: 'b' } })
    expect(done).toMatchObject({ change: 'changed', nextFireTime: before?.nextFireTime })
    expect((await scheduler.getJobDetail(jobKey('k')))?.jobDataMap).toEqual({ to: 'b' })
    await scheduler.pauseJob(jobKey('k'))
    await scheduler.schedule(report, { ...options, every: '20m', data: { to: 'b' } })
    const after = await scheduler.getTrigger(triggerKey('k'))
    expect(after?.nextFireTimeMs).toBe(clock.now() + 1_140_000)
    expect(after?.previousFireTimeMs).toBe(before?.previousFireTimeMs)
    expect(await scheduler.getTriggerState(triggerKey('k'))).toBe('PAUSED')
    await scheduler.shutdown()
  })

  it('keeps the hour of a cron expression, and what is equal however it is written down', async () => {
    const { scheduler } = await fixture()
    await scheduler.schedule(report, { key: 'k', cron: '0 7 * * *', data: { to: 'a', copies: 1 } })
    const again = await scheduler.schedule(report, {
      data: { copies: 1, to: 'a' },
      cron: '0 7 * * *',
      key: jobKey('k'),
    })
    expect(again.change).toBe('unchanged')
    expect(await scheduler.getTrigger(triggerKey('k'))).toBeInstanceOf(CronTrigger)
  })

  it('runs once what runs once, however often it is declared', async () => {
    const { scheduler, clock } = await fixture()
    let runs = 0
    scheduler.events.on('jobWasExecuted', () => runs++)
    const at = new Date(clock.now() + 5000)
    await scheduler.schedule(plain, { key: 'launch', at })
    await scheduler.schedule(plain, { key: 'later', in: '5s' })
    await scheduler.start()
    await clock.advance(5000)
    await scheduler.idle()
    expect(runs).toBe(2)
    await clock.advance(120_000)
    expect(await scheduler.schedule(plain, { key: 'launch', at })).toMatchObject({
      change: 'unchanged',
      nextFireTime: null,
    })
    expect(await scheduler.schedule(plain, { key: 'later', in: '5s' })).toMatchObject({ change: 'unchanged' })
    expect(await scheduler.schedule(plain, { key: 'past', at })).toMatchObject({
      change: 'added',
      nextFireTime: null,
    })
    await scheduler.idle()
    expect(runs).toBe(2)
    await scheduler.schedule(plain, { key: 'launch', at: new Date(clock.now() + 1000) })
    await clock.advance(1000)
    await scheduler.idle()
    expect(runs).toBe(3)
    await scheduler.shutdown()
  })

  it('refuses a key whose trigger is that of another job by now', async () => {
    const { scheduler, job, everySecond } = await fixture()
    await scheduler.schedule(plain, { key: 'k', every: '1h' })
    await scheduler.unscheduleJob(triggerKey('k'))
    await scheduler.scheduleJob(job('built'), everySecond('k'))
    await expect(scheduler.schedule(plain, { key: 'k', every: '1h' })).rejects.toMatchObject({
      code: 'ERR_OBJECT_ALREADY_EXISTS',
    })
  })

  it.each<[string, ScheduleOptions, number]>([
    ['an interval', { key: 'k', every: '1h', endAt: new Date('2026-01-01T02:30:00Z') }, 3],
    ['a day', { key: 'k', daily: '07:00', zone: 'UTC', endAt: new Date('2026-01-02T08:00:00Z') }, 2],
    ['a cron expression', { key: 'k', cron: '0 0 0/12 1 1 ? 2026', zone: 'UTC' }, 2],
  ])('takes %s that is over as it takes an instant that has passed', async (_, options, expected) => {
    const { scheduler, clock } = await fixture()
    clock.jump(Date.parse('2026-01-01T00:00:00Z') - clock.now())
    let runs = 0
    scheduler.events.on('jobWasExecuted', () => runs++)
    await scheduler.start()
    await scheduler.schedule(plain, options)
    await clock.advance(40 * 3_600_000)
    await scheduler.idle()
    expect(runs).toBe(expected)
    const over = { change: 'unchanged', nextFireTime: null }
    expect(await scheduler.schedule(plain, options)).toMatchObject(over)
    expect(await scheduler.schedule(plain, { ...options, priority: 6 })).toMatchObject({
      change: 'changed',
      nextFireTime: null,
    })
    expect(await scheduler.schedule(plain, { ...options, key: 'other' })).toMatchObject({
      change: 'added',
      nextFireTime: null,
    })
    const { key, ...unnamed } = options
    await expect(scheduler.schedule(plain, unnamed as ScheduleOptions), String(key)).rejects.toThrow()
    await scheduler.idle()
    expect(runs).toBe(expected)
    await scheduler.shutdown()
  })

  it('runs once at the instant of the first call, however that is written again', async () => {
    const { scheduler, clock } = await fixture()
    let runs = 0
    scheduler.events.on('jobWasExecuted', () => runs++)
    const at = new Date(clock.now() + 300_000)
    const declare = async (when: { in: string | number } & { priority?: number }): Promise<unknown[]> => {
      const { in: delay, ...rest } = when
      const later = await scheduler.schedule(plain, { key: 'later', in: delay, ...rest })
      const launch = await scheduler.schedule(plain, { key: 'launch', at, ...rest })
      return [later.nextFireTime, launch.nextFireTime]
    }
    expect(await declare({ in: '5m' })).toEqual([at, at])
    await scheduler.start()
    await clock.advance(60_000)
    expect(await declare({ in: 300_000 })).toEqual([at, at])
    expect(await declare({ in: 'PT5M', priority: 7 })).toEqual([at, at])
    expect((await scheduler.getTrigger(triggerKey('later')))?.priority).toBe(7)
    await clock.advance(240_000)
    await scheduler.idle()
    expect(runs).toBe(2)
    expect(await declare({ in: '300s' })).toEqual([null, null])
    await clock.advance(600_000)
    await scheduler.idle()
    expect(runs).toBe(2)
    await scheduler.schedule(plain, { key: 'later', in: '6m' })
    await clock.advance(360_000)
    await scheduler.idle()
    expect(runs).toBe(3)
    await scheduler.shutdown()
  })

  it.each<[ScheduleOptions, string]>([
    [{ daily: '07:00', zone: 'UTC' }, '2026-03-11T07:00:00.000Z'],
    [{ cron: '0 12 * * *', zone: 'UTC' }, '2026-03-10T12:00:00.000Z'],
    [{ every: '7h', misfireInstruction: 'fireNow' }, '2026-03-10T15:00:00.000Z'],
  ])('leaves out what lay between a start and the first declaration of %j', async (when, expected) => {
    const { scheduler, clock } = await fixture()
    clock.jump(Date.parse('2026-03-10T09:30:00Z') - clock.now())
    const options = { ...when, key: 'k', startAt: new Date('2026-03-01T00:00:00Z') } as ScheduleOptions
    let runs = 0
    scheduler.events.on('jobWasExecuted', () => runs++)
    await scheduler.start()
    const { nextFireTime } = await scheduler.schedule(plain, options)
    expect(nextFireTime?.toISOString()).toBe(expected)
    await scheduler.idle()
    expect(runs).toBe(0)
    expect((await scheduler.getTrigger(triggerKey('k')))?.timesTriggered).toBe(0)
    // What is missed once it is stored is missed.
    clock.jump(2 * 86_400_000)
    expect((await scheduler.schedule(plain, options)).nextFireTime?.toISOString()).toBe(expected)
    await scheduler.shutdown()
  })

  it.each([
    [{ every: '1s' }, 1, '2026-03-10T09:29:59.999Z'],
    [{ every: '1s' }, 30_500, '2026-03-10T09:29:59.500Z'],
    [{ every: '1h' }, 30_500, '2026-03-10T09:29:29.500Z'],
    [{ every: '1s' }, 70_000, '2026-03-10T09:30:01.000Z'],
    [{ cron: '* * * * * ?', zone: 'UTC' }, 30_500, '2026-03-10T09:30:00.000Z'],
    [{ cron: '29-40 29 9 * * ?', zone: 'UTC' }, 30_500, '2026-03-10T09:29:40.000Z'],
  ] satisfies [ScheduleOptions, number, string][])(
    'fires once at most for what lay between a start just now and now of %j, %i',
    async (when, agoMs, expected) => {
      const { scheduler, clock } = await fixture()
      clock.jump(Date.parse('2026-03-10T09:30:00Z') - clock.now())
      const options = { ...when, key: 'k', startAt: new Date(clock.now() - agoMs) } as ScheduleOptions
      const { nextFireTime } = await scheduler.schedule(plain, options)
      expect(nextFireTime?.toISOString()).toBe(expected)
      let runs = 0
      scheduler.events.on('jobWasExecuted', () => runs++)
      await scheduler.start()
      await scheduler.idle()
      expect(runs).toBeLessThanOrEqual(1)
      await scheduler.shutdown()
    },
  )

  it('deletes a job without a key after its last run', async () => {
    const { scheduler } = await fixture()
    const { key } = await scheduler.schedule(plain, { in: 0 })
    expect(await scheduler.checkExists(key)).toBe(true)
    await scheduler.start()
    await scheduler.idle()
    expect(await scheduler.checkExists(key)).toBe(false)
    await scheduler.shutdown()
  })

  it.each<[string, object, string]>([
    ['nothing that says when', {}, 'cron'],
    ['two that say when', { cron: '0 7 * * *', every: '1s' }, 'every'],
    ['a zone for an interval', { every: '1s', zone: 'UTC' }, 'zone'],
    ['a DST policy for an interval', { every: '1s', dst: 'quartz' }, 'dst'],
    ['a dialect of no expression', { daily: '07:00', dialect: 'unix' }, 'dialect'],
    ['an unknown dialect', { cron: '@daily', dialect: 'java' }, 'dialect'],
    ['an unknown DST policy', { cron: '@daily', dst: 'java' }, 'dst'],
    ['a start of what runs once', { in: '1s', startAt: new Date(0) }, 'startAt'],
    ['an unknown option', { every: '1s', zome: 'UTC' }, 'zome'],
    ['a group beside the key', { every: '1s', key: 'x', group: 'g' }, 'group'],
    ['no duration', { every: 'often' }, 'every'],
    ['no interval', { every: 0 }, 'every'],
    ['no time of day', { daily: '25:00' }, 'daily'],
    ['no instant', { at: 'tomorrow' }, 'at'],
    ['a blank key', { key: ' ', every: '1s' }, 'key'],
  ])('refuses %s, naming the option', async (_, options, field) => {
    const { scheduler } = await fixture()
    const call = scheduler.schedule('plain', options as ScheduleOptions)
    await expect(call).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', field })
  })
})

it('names the option of a zone that does not exist', async () => {
  const { scheduler } = await fixture()
  const options = { daily: '07:00', zone: 'Mars/Olympus', data: { to: 'a' } }
  await expect(scheduler.schedule(report, options)).rejects.toMatchObject({
    code: 'ERR_UNKNOWN_TIME_ZONE',
    field: 'zone',
    message: expect.stringContaining("schedule: Unknown time zone 'Mars/Olympus'") as string,
  })
  await scheduler.shutdown()
})

it('says that a cron expression has too few of the five fields', async () => {
  const { scheduler } = await fixture()
  await expect(scheduler.schedule(report, { cron: '0 7 * *', data: { to: 'a' } })).rejects.toMatchObject({
    code: 'ERR_INVALID_CRON_EXPRESSION',
    message: expect.stringContaining('needed are 5') as string,
  })
  await scheduler.shutdown()
})

it('is the same plan as before the option `dst` was there, where it is not given', async () => {
  const { scheduler } = await fixture()
  const declared = { key: 'k', cron: '0 7 * * *', zone: 'Europe/Paris' } as const
  await scheduler.schedule(plain, declared)
  // Of a stored plan: another digest would make each start count the schedule as changed.
  expect((await scheduler.getJobDetail(jobKey('k')))?.plan?.when).toBe('ceyoTWfOkAua3n--')
  const again = async (options: object): Promise<string> =>
    (await scheduler.schedule(plain, { ...declared, ...options })).change
  expect(await again({ dst: undefined })).toBe('unchanged')
  expect(await again({ dst: 'quartz' })).toBe('changed')
  expect(await scheduler.getTrigger(triggerKey('k'))).toMatchObject({ dst: 'quartz' })
})

it('is the same plan for versions whose jobs have other fields, where these are not used', async () => {
  const { scheduler } = await fixture()
  await scheduler.schedule(plain, { key: 'k', every: '1h' })
  const plan = async (): Promise<string | undefined> => (await scheduler.getJobDetail('k'))?.plan?.job
  // Of the key, the type and `durable` alone: another digest would make each start count schedules as changed.
  expect(await plan()).toBe('3YS1A0Vu1MX4KZid')
  await scheduler.schedule(plain, { key: 'k', every: '1h', requestRecovery: true })
  expect(await plan()).not.toBe('3YS1A0Vu1MX4KZid')
  await scheduler.shutdown()
})

it('takes a name for a key of the group DEFAULT', async () => {
  const { scheduler } = await fixture()
  await scheduler.schedule(report, { key: 'k', every: '1h', data: { to: 'a' } })
  expect(await scheduler.getJobDetail('k')).toMatchObject({ key: jobKey('k') })
  expect(await scheduler.pauseJob('k')).toBe(true)
  expect(await scheduler.getTriggerState('k')).toBe('PAUSED')
  expect(await scheduler.resumeTrigger('k')).toBe(true)
  expect(await scheduler.getTriggersOfJob('k')).toHaveLength(1)
  expect(await scheduler.getTrigger('k')).toMatchObject({ key: triggerKey('k') })
  expect(await scheduler.skipNextFire('k')).not.toBeNull()
  expect(await scheduler.pauseTrigger('other')).toBe(false)
  await scheduler.triggerJob('k', { to: 'b' })
  expect(await scheduler.unscheduleJob('k')).toBe(true)
  expect(await scheduler.deleteJob('k')).toBe(true)
  await scheduler.shutdown()
})

describe('runNow', () => {
  it('runs a job once, by its name or its key', async () => {
    const { scheduler } = await fixture()
    const ran: unknown[] = []
    scheduler.events.on('jobWasExecuted', ({ context }) => ran.push(context.mergedJobDataMap))
    await scheduler.schedule(report, { key: 'k', daily: '07:00', data: { to: 'a' } })
    await scheduler.runNow('k')
    await scheduler.runNow(jobKey<{ to: string }>('k'), { to: 'b' })
    await scheduler.start()
    await scheduler.idle()
    expect(ran).toEqual([{ to: 'a' }, { to: 'b' }])
    await expect(scheduler.runNow('absent')).rejects.toMatchObject({
      code: 'ERR_JOB_NOT_FOUND',
      message: expect.stringContaining('that runNow names') as string,
    })
    await scheduler.shutdown()
  })

  it('is there for a running job', async () => {
    const first = defineJob('first', ({ scheduler }) => scheduler.runNow('second'))
    const { scheduler } = await schedulerFixture({ jobs: [first, plain] })
    const ran: string[] = []
    scheduler.events.on('jobWasExecuted', ({ context }) => ran.push(context.jobDetail.key.name))
    await scheduler.schedule(plain, { key: 'second', daily: '07:00' })
    await scheduler.schedule(first, { key: 'first', daily: '07:00' })
    await scheduler.runNow('first')
    await scheduler.start()
    await scheduler.idle()
    expect(ran).toEqual(['first', 'second'])
    await scheduler.shutdown()
  })
})

it('warns of a new schedule whose times have all passed, and not again', async () => {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) }
  const jobStore = sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db') })
  const { scheduler, clock } = await schedulerFixture({ jobs: [plain], logger, jobStore })
  const past = new Date(clock.now() - 86_400_000)
  for (let time = 0; time < 2; time++) {
    expect((await scheduler.schedule(plain, { key: 'once', at: past })).nextFireTime).toBeNull()
    await scheduler.schedule(plain, { key: 'ended', every: '1h', endAt: past })
    await scheduler.schedule(plain, { key: 'late', at: new Date(clock.now() + 1000) })
  }
  expect(warnings).toEqual(
    ['once', 'ended'].map(
      (key) => `The schedule 'DEFAULT.${key}' is new and will never run: all of its times have passed.`,
    ),
  )
  await scheduler.shutdown()
})

it('warns of a changed schedule that will not run again, as of a job that declares each step as the last', async () => {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) }
  const cursors: unknown[] = []
  const poll = defineJob<{ cursor: number }>('poll', async ({ mergedJobDataMap: { cursor }, scheduler }) => {
    cursors.push(cursor)
    await scheduler.schedule('poll', { key: 'poll', in: '1m', data: { cursor: cursor + 1 } })
  })
  const { scheduler, clock } = await schedulerFixture({ jobs: [poll], logger })
  await scheduler.start()
  await scheduler.schedule(poll, { key: 'poll', in: '1m', data: { cursor: 0 } })
  await clock.advance(600_000)
  expect(cursors).toEqual([0])
  expect(warnings).toEqual([
    "The schedule 'DEFAULT.poll' was changed and will not run: its times have passed, it has run once, or its " +
      'trigger was deleted. For another run declare a time that is ahead, or use another key.',
  ])
  const at = new Date(clock.now() + 1000)
  await scheduler.schedule('poll', { key: 'poll', at, data: { cursor: 9 } })
  await clock.advance(1000)
  expect(cursors).toEqual([0, 9])
  await scheduler.shutdown()
})
