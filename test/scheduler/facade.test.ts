import { describe, expect, it } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineWorkerJob } from '../../src/jobs/define-worker-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { DailyCalendar } from '../../src/triggers/calendars/daily-calendar.ts'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const withCode = (code: string): object => expect.objectContaining({ code }) as object

describe('scheduling', () => {
  it('stores a job with its trigger, answers the first fire time and tells listeners in order', async () => {
    const { scheduler, clock, told, job, once } = await schedulerFixture()
    const first = await scheduler.scheduleJob(job('j'), once('t', 5000))
    expect(first).toEqual(new Date(clock.now() + 5000))
    expect((await scheduler.getTrigger(triggerKey('t')))?.jobKey?.toString()).toBe('DEFAULT.j')
    expect(told).toEqual(['jobAdded j', 'jobScheduled t'])
  })

  it('stores a further trigger of a job that exists', async () => {
    const { scheduler, told, job, once } = await schedulerFixture()
    await scheduler.scheduleJob(job('j'), once('t', 5000))
    const second = once('u', 1000).withJobKey(jobKey('j'))
    await scheduler.scheduleJob(second)
    expect((await scheduler.getTriggersOfJob(jobKey('j'))).map((trigger) => trigger.key.name).sort()).toEqual(
      ['t', 'u'],
    )
    expect(told.at(-1)).toBe('jobScheduled u')
  })

  it('refuses a job with an empty list of triggers: there is no first fire time to answer', async () => {
    const { scheduler, told, job } = await schedulerFixture()
    const durable = job('j', (builder) => builder.storeDurably())
    await expect(scheduler.scheduleJob(durable, [])).rejects.toMatchObject({ field: 'triggers' })
    expect(await scheduler.checkExists(durable.key)).toBe(false)
    expect(told).toEqual([])
  })

  it('stores many jobs with their triggers, all or none', async () => {
    const { scheduler, told, job, once } = await schedulerFixture()
    await scheduler.scheduleJobs([
      { job: job('a'), triggers: [once('a1', 10), once('a2', 20)] },
      { job: job('b', (builder) => builder.storeDurably()), triggers: [] },
    ])
    expect(told).toEqual(['jobAdded a', 'jobScheduled a1', 'jobScheduled a2', 'jobAdded b'])
    const again = [
      { job: job('c'), triggers: [once('c1')] },
      { job: job('a'), triggers: [once('a1', 99)] },
    ]
    await expect(scheduler.scheduleJobs(again)).rejects.toEqual(withCode('ERR_OBJECT_ALREADY_EXISTS'))
    expect(await scheduler.checkExists(jobKey('c'))).toBe(false)
    await scheduler.scheduleJobs(again, { replace: true })
    expect(await scheduler.checkExists(jobKey('c'))).toBe(true)
  })

  it('stores new jobs and triggers of stored jobs, all or none', async () => {
    const { scheduler, told, job, once } = await schedulerFixture()
    const stored = job('stored', (builder) => builder.storeDurably())
    await scheduler.addJob(stored)
    const ofStored = once('late').withJobKey(stored.key)
    const ofNone = once('none').withJobKey(jobKey('none'))
    const awaiting = job('awaiting')
    told.length = 0
    const entries = [
      { job: job('new'), triggers: [once('n1')] },
      { job: awaiting, triggers: [] },
    ]
    const options = { storeNonDurableWhileAwaitingScheduling: true }
    const refused = scheduler.scheduleJobs([...entries, { job: null, triggers: [ofStored, ofNone] }], options)
    await expect(refused).rejects.toEqual(withCode('ERR_JOB_NOT_FOUND'))
    expect(told).toEqual([])
    await scheduler.scheduleJobs([...entries, { job: null, triggers: [ofStored] }], options)
    expect(told).toEqual(['jobAdded new', 'jobScheduled n1', 'jobAdded awaiting', 'jobScheduled late'])
    expect(await scheduler.checkExists(awaiting.key)).toBe(true)
  })

  it.each([
    ['a job type that nobody registered', 'ERR_UNKNOWN_JOB_TYPE'],
    ['a trigger of another job', 'ERR_JOB_KEY_MISMATCH'],
    ['a calendar that does not exist', 'ERR_CALENDAR_NOT_FOUND'],
    ['a trigger that never fires', 'ERR_TRIGGER_NEVER_FIRES'],
    ['data that cannot be stored', 'ERR_INVALID_JOB_DATA'],
    ['data under the scheduler’s own prefix', 'ERR_INVALID_JOB_DATA'],
    ['data that is too large', 'ERR_JOB_DATA_TOO_LARGE'],
    ['a job without a trigger that is not durable', 'ERR_JOB_NOT_DURABLE'],
    ['a trigger of a job that does not exist', 'ERR_JOB_NOT_FOUND'],
    ['a trigger that names no job', 'ERR_INVALID_TRIGGER'],
    ['a worker job on a pool without threads', 'ERR_WORKER_UNAVAILABLE'],
  ])('refuses %s and stores nothing', async (what, code) => {
    const worker = defineWorkerJob('worker', new URL('../fixtures/workers/thread.mjs', import.meta.url))
    const fixture = await schedulerFixture({
      jobs: [worker],
      maxJobDataBytes: 100,
      threadPool: inProcessThreadPool(),
    })
    const { scheduler, clock, job, once, told } = fixture
    const data = (value: object) => job('j', (builder) => builder.usingJobData(value))
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      'a job type that nobody registered': () =>
        scheduler.scheduleJob(JobBuilder.newJob('unheard-of').build(), once('t')),
      'a trigger of another job': () => scheduler.scheduleJob(job('j'), once('t').withJobKey(jobKey('k'))),
      'a calendar that does not exist': () =>
        scheduler.scheduleJob(job('j'), once('t').getTriggerBuilder().modifiedByCalendar('none').build()),
      'a trigger that never fires': async () => {
        await scheduler.addCalendar('all', new WeeklyCalendar({ excludedDays: [1, 2, 3, 4, 5, 6, 7] }))
        await scheduler.scheduleJob(job('j'), once('t').getTriggerBuilder().modifiedByCalendar('all').build())
      },
      'data that cannot be stored': () => scheduler.scheduleJob(data({ at: new Date(0) }), once('t')),
      'data under the scheduler’s own prefix': () => scheduler.scheduleJob(data({ QRTZ_X: 1 }), once('t')),
      'data that is too large': () => scheduler.scheduleJob(data({ text: 'x'.repeat(200) }), once('t')),
      'a job without a trigger that is not durable': () => scheduler.addJob(job('j')),
      'a trigger of a job that does not exist': () =>
        scheduler.scheduleJob(once('t').withJobKey(jobKey('j'))),
      'a trigger that names no job': () => scheduler.scheduleJob(once('t')),
      'a worker job on a pool without threads': () =>
        scheduler.scheduleJob(
          JobBuilder.newJob(worker).build(),
          TriggerBuilder.newTrigger({ clock }).build(),
        ),
    }
    await expect((async () => calls[what]?.())()).rejects.toEqual(withCode(code))
    expect(await scheduler.getJobKeys(GroupMatcher.anyGroup())).toEqual([])
    expect(await scheduler.getTriggerKeys(GroupMatcher.anyGroup())).toEqual([])
    expect(told).toEqual([])
  })

  it('reschedules a trigger, keeping its job, and answers null for one that does not exist', async () => {
    const { scheduler, clock, told, job, once } = await schedulerFixture()
    await scheduler.scheduleJob(job('j'), once('t', 5000))
    expect(await scheduler.rescheduleJob(triggerKey('none'), once('x'))).toBeNull()
    expect(await scheduler.rescheduleJob(triggerKey('t'), once('u', 7000))).toEqual(
      new Date(clock.now() + 7000),
    )
    expect(await scheduler.checkExists(triggerKey('t'))).toBe(false)
    expect(await scheduler.checkExists(jobKey('j'))).toBe(true)
    expect(told.slice(2)).toEqual(['jobUnscheduled t', 'jobScheduled u'])
  })

  it('deletes a job that loses its last trigger, unless it is durable', async () => {
    const { scheduler, told, job, once } = await schedulerFixture()
    await scheduler.scheduleJob(job('gone'), once('t', 5000))
    await scheduler.scheduleJob(
      job('stays', (builder) => builder.storeDurably()),
      once('u', 5000),
    )
    told.length = 0
    expect(await scheduler.unscheduleJobs([triggerKey('t'), triggerKey('u')])).toBe(true)
    expect(await scheduler.checkExists(jobKey('gone'))).toBe(false)
    expect(await scheduler.checkExists(jobKey('stays'))).toBe(true)
    expect(told).toEqual(['jobDeleted gone', 'jobUnscheduled t', 'jobUnscheduled u'])
  })

  it('deletes a job with its triggers and says so once', async () => {
    const { scheduler, told, job, once } = await schedulerFixture()
    await scheduler.scheduleJob(job('j'), [once('t', 10), once('u', 20)])
    told.length = 0
    expect(await scheduler.deleteJob(jobKey('j'))).toBe(true)
    expect(told).toEqual(['jobDeleted j'])
    expect(await scheduler.getTriggerKeys(GroupMatcher.anyGroup())).toEqual([])
  })

  it('runs a job now on request, with its own data, through a trigger of its own', async () => {
    const { scheduler, clock, ran, told, job } = await schedulerFixture()
    await scheduler.addJob(job('j', (builder) => builder.storeDurably()))
    await scheduler.start()
    const key = await scheduler.triggerJob(jobKey('j'), { why: 'test' })
    expect(key.name).toMatch(/^MT_/)
    await clock.settle()
    expect(ran).toEqual(['j'])
    expect(told).toContain(`jobScheduled ${key.name}`)
    await expect(scheduler.triggerJob(jobKey('none'))).rejects.toEqual(withCode('ERR_JOB_NOT_FOUND'))
    await scheduler.shutdown()
  })

  it('clears everything with one callback', async () => {
    const { scheduler, told, job, once } = await schedulerFixture()
    await scheduler.addCalendar('c', new DailyCalendar({ rangeStart: '01:00', rangeEnd: '02:00' }))
    await scheduler.scheduleJob(job('j'), once('t', 5000))
    told.length = 0
    await scheduler.clear()
    expect(told).toEqual(['schedulingDataCleared'])
    expect(await scheduler.getJobGroupNames()).toEqual([])
    expect(await scheduler.getCalendarNames()).toEqual([])
  })
})

describe('operations on keys that do not exist', () => {
  it('answer false, null or nothing, and tell nobody', async () => {
    const { scheduler, told } = await schedulerFixture()
    const none = jobKey('none')
    const noTrigger = triggerKey('none')
    expect(await scheduler.unscheduleJob(noTrigger)).toBe(false)
    expect(await scheduler.deleteJobs([none])).toBe(false)
    expect(await scheduler.pauseTrigger(noTrigger)).toBe(false)
    expect(await scheduler.resumeTrigger(noTrigger)).toBe(false)
    expect(await scheduler.pauseJob(none)).toBe(false)
    expect(await scheduler.resumeJob(none)).toBe(false)
    expect(await scheduler.resetTriggerFromErrorState(noTrigger)).toBe(false)
    expect(await scheduler.deleteCalendar('none')).toBe(false)
    expect(await scheduler.getCalendar('none')).toBeNull()
    expect(await scheduler.getJobDetail(none)).toBeNull()
    expect(await scheduler.getTrigger(noTrigger)).toBeNull()
    expect(await scheduler.getTriggersOfJob(none)).toEqual([])
    expect(await scheduler.getTriggerState(noTrigger)).toBe('NONE')
    expect(await scheduler.interrupt(none)).toBe(false)
    expect(await scheduler.interrupt({ fireInstanceId: 'none' })).toBe(false)
    expect(told).toEqual([])
  })
})

describe('pausing', () => {
  it('keeps a trigger from firing until it is resumed', async () => {
    const { scheduler, clock, ran, told, job, everySecond } = await schedulerFixture()
    await scheduler.scheduleJob(job('j'), everySecond('t'))
    await scheduler.start()
    await clock.advance(1000)
    expect(await scheduler.pauseTrigger(triggerKey('t'))).toBe(true)
    expect(await scheduler.getTriggerState(triggerKey('t'))).toBe('PAUSED')
    await clock.advance(10_000)
    expect(ran).toHaveLength(1)
    expect(await scheduler.resumeTrigger(triggerKey('t'))).toBe(true)
    await clock.advance(1000)
    expect(ran.length).toBeGreaterThan(1)
    expect(told).toEqual(expect.arrayContaining(['triggerPaused t', 'triggerResumed t']))
    await scheduler.shutdown()
  })

  it('of groups says which, remembers them, and of everything says null', async () => {
    const { scheduler, told, job, once } = await schedulerFixture()
    await scheduler.scheduleJob(job('j'), once('t', 5000))
    told.length = 0
    expect(await scheduler.pauseTriggers(GroupMatcher.groupStartsWith('DEF'))).toEqual(['DEFAULT'])
    expect(await scheduler.getPausedTriggerGroups()).toEqual(['DEFAULT'])
    expect(await scheduler.resumeTriggers(GroupMatcher.groupEquals('DEFAULT'))).toEqual(['DEFAULT'])
    expect(await scheduler.pauseJobs(GroupMatcher.anyGroup())).toEqual(['DEFAULT'])
    expect(await scheduler.getPausedJobGroups()).toEqual(['DEFAULT'])
    expect(await scheduler.resumeJobs(GroupMatcher.anyGroup())).toEqual(['DEFAULT'])
    await scheduler.pauseJob(jobKey('j'))
    await scheduler.resumeJob(jobKey('j'))
    await scheduler.pauseAll()
    expect(await scheduler.getTriggerState(triggerKey('t'))).toBe('PAUSED')
    await scheduler.resumeAll()
    expect(await scheduler.getTriggerState(triggerKey('t'))).toBe('NORMAL')
    expect(told).toEqual([
      'triggersPaused DEFAULT',
      'triggersResumed DEFAULT',
      'jobsPaused DEFAULT',
      'jobsResumed DEFAULT',
      'jobPaused j',
      'jobResumed j',
      'triggersPaused null',
      'triggersResumed null',
    ])
  })
})

describe('queries and calendars', () => {
  it('list groups and keys, and pages in order of keys', async () => {
    const { scheduler, job, once } = await schedulerFixture()
    for (const name of ['c', 'a', 'b']) await scheduler.scheduleJob(job(name), once(`t${name}`, 5000))
    expect(await scheduler.getJobGroupNames()).toEqual(['DEFAULT'])
    expect(await scheduler.getTriggerGroupNames()).toEqual(['DEFAULT'])
    expect(
      (await scheduler.getJobKeys(GroupMatcher.groupEquals('DEFAULT'))).map((key) => key.name).sort(),
    ).toEqual(['a', 'b', 'c'])
    const first = await scheduler.queryJobs({ take: 2 })
    expect(first.items.map((item) => item.key.name)).toEqual(['a', 'b'])
    expect(first.next?.name).toBe('b')
    const second = await scheduler.queryTriggers({ take: 2, after: triggerKey('tb') })
    expect(second.items.map((item) => item.key.name)).toEqual(['tc'])
    expect(second.next).toBeNull()
  })

  it('refuse a calendar name that is taken and a calendar that is in use', async () => {
    const { scheduler, job, once } = await schedulerFixture()
    const calendar = new DailyCalendar({ rangeStart: '01:00', rangeEnd: '02:00', timeZone: 'UTC' })
    await scheduler.addCalendar('c', calendar)
    await expect(scheduler.addCalendar('c', calendar)).rejects.toEqual(withCode('ERR_OBJECT_ALREADY_EXISTS'))
    await scheduler.scheduleJob(job('j'), once('t', 5000).getTriggerBuilder().modifiedByCalendar('c').build())
    await expect(scheduler.deleteCalendar('c')).rejects.toEqual(withCode('ERR_CALENDAR_IN_USE'))
    expect(await scheduler.getCalendarNames()).toEqual(['c'])
    await scheduler.unscheduleJob(triggerKey('t'))
    expect(await scheduler.deleteCalendar('c')).toBe(true)
  })

  it('moves waiting triggers when their calendar is replaced', async () => {
    const { scheduler, clock, job, everySecond } = await schedulerFixture()
    const at = (rangeEnd: string) => new DailyCalendar({ rangeStart: '00:00', rangeEnd, timeZone: 'UTC' })
    await scheduler.addCalendar('c', at('00:10'))
    await scheduler.scheduleJob(
      job('j'),
      everySecond('t').getTriggerBuilder().modifiedByCalendar('c').build(),
    )
    const midnight = clock.now()
    expect((await scheduler.getTrigger(triggerKey('t')))?.nextFireTimeMs).toBe(midnight + 601_000)
    await scheduler.addCalendar('c', at('00:20'), { replace: true, updateTriggers: true })
    expect((await scheduler.getTrigger(triggerKey('t')))?.nextFireTimeMs).toBe(midnight + 1_201_000)
  })
})
