import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createScheduler,
  defineJob,
  firingLogPlugin,
  GroupMatcher,
  JobBuilder,
  jobKey,
  ObjectAlreadyExistsError,
  type Scheduler,
  SimpleScheduleBuilder,
  TriggerBuilder,
  triggerKey,
} from '../../src/index.ts'

const report = defineJob('report', () => {})

const jobOf = (description: string) =>
  JobBuilder.newJob(report).withIdentity('daily').withDescription(description).build()

const triggerOf = (name: string, priority: number) =>
  TriggerBuilder.newTrigger()
    .withIdentity(name)
    .withPriority(priority)
    .withSchedule(SimpleScheduleBuilder.repeatHourlyForever())
    .forJob('daily')
    .build()

let scheduler: Scheduler

beforeEach(async () => {
  scheduler = await createScheduler({ jobs: [report] })
  await scheduler.scheduleJob(jobOf('first'), triggerOf('t', 1))
})

afterEach(() => scheduler.shutdown())

describe('what the error about a taken key advises', () => {
  it('is a call that exists: a job with its trigger', async () => {
    await expect(scheduler.scheduleJob(jobOf('second'), triggerOf('t', 2))).rejects.toThrow(
      'Pass { replace: true }',
    )
    await scheduler.scheduleJob(jobOf('second'), triggerOf('t', 2), { replace: true })
    expect((await scheduler.getJobDetail(jobKey('daily')))?.description).toBe('second')
    expect((await scheduler.getTrigger(triggerKey('t')))?.priority).toBe(2)
  })

  it('is a call that exists: a trigger of a stored job', async () => {
    await expect(scheduler.scheduleJob(triggerOf('t', 2))).rejects.toThrow('Pass { replace: true }')
    await scheduler.scheduleJob(triggerOf('t', 2), { replace: true })
    expect((await scheduler.getTrigger(triggerKey('t')))?.priority).toBe(2)
  })

  it('is another one where a trigger is rescheduled onto the key of a third', async () => {
    await scheduler.scheduleJob(triggerOf('other', 1))
    const rescheduled = scheduler.rescheduleJob(triggerKey('t'), triggerOf('other', 2))
    await expect(rescheduled).rejects.toThrow(ObjectAlreadyExistsError)
    await expect(rescheduled).rejects.toThrow(/another identity, or unschedule that one first/)
    await expect(rescheduled).rejects.not.toThrow(/replace: true/)
  })
})

describe('the message about a wrong argument', () => {
  it.each([
    [
      'a builder',
      () => scheduler.scheduleJob(JobBuilder.newJob(report) as never, triggerOf('x', 1)),
      "scheduleJob: 'jobDetail' must be a JobDetail, got a JobBuilder. " +
        'This is a builder: call build() on it and pass what that answers.',
    ],
    [
      'a blank name for a key',
      () => scheduler.deleteJob(' '),
      "deleteJob: 'jobKey' must be a JobKey or a name that is not blank, got ' '. " +
        "Pass the name of a job in the group DEFAULT, or jobKey('name', 'group').",
    ],
    [
      'a text for a matcher',
      () => scheduler.pauseTriggers('mail' as never),
      "pauseTriggers: 'matcher' must be a GroupMatcher, got 'mail'. " +
        "Make one, as in GroupMatcher.groupEquals('reports') or GroupMatcher.anyGroup().",
    ],
    [
      'a text for an instant',
      () => scheduler.pauseAll({ until: '2h' } as never),
      "pauseAll: 'until' must be a valid Date, got '2h'. " +
        'Pass a Date; for two hours from now, new Date(Date.now() + 2 * 3_600_000).',
    ],
    [
      'a trigger before its job',
      () => scheduler.scheduleJob(triggerOf('x', 1), JobBuilder.newJob(report).build() as never),
      "scheduleJob: 'jobDetail' must be a JobDetail, got a SimpleTrigger. The job goes before its trigger.",
    ],
    [
      'a job alone',
      () => scheduler.schedule(report, undefined as never),
      "schedule: 'options' must be an object, got undefined. " +
        "Say when, as in { cron: '0 7 * * *' } or { every: '5m' }.",
    ],
    [
      'a duration in words',
      () => scheduler.schedule(report, { every: '5 minutes' }),
      "schedule: 'every' must be a duration, at least 1 ms and at most a million days: a number of milliseconds, " +
        "'5s' or 'PT5S' (units: ms, s, m, h, d); got '5 minutes'.",
    ],
    [
      'half a millisecond',
      () => scheduler.schedule(report, { every: 0.5 }),
      "schedule: 'every' must be a duration, at least 1 ms and at most a million days: a number of milliseconds, " +
        "'5s' or 'PT5S' (units: ms, s, m, h, d); got 0.5.",
    ],
    [
      'a number for a thread pool',
      () => createScheduler({ threadPool: 5 as never }),
      "createScheduler: 'threadPool' must be an object, got 5. Write { size: 10 }, or pass a thread pool.",
    ],
    [
      'a plugin without its options',
      async () => firingLogPlugin(undefined as never),
      "firingLogPlugin: 'options' must be an object, got undefined. Known: logger.",
    ],
    [
      'an unknown option',
      () => scheduler.shutdown({ wait: true } as never),
      "shutdown: unknown option 'wait'. Did you mean 'waitForJobsToComplete'?",
    ],
    [
      'an unknown field of a query',
      () => scheduler.queryTriggers({ limit: 5 } as never),
      "queryTriggers: unknown option 'limit'. Did you mean 'take'?",
    ],
    [
      'Java’s form of shutdown',
      () => scheduler.shutdown(true as never),
      "shutdown: 'options' must be an object, got true. Leave it out, or use waitForJobsToComplete, timeoutMs, " +
        'interruptAfterMs.',
    ],
    [
      'an event that does not exist',
      async () => scheduler.events.on('jobWasExecutd' as never, () => {}),
      "events.on: 'name' must be the name of an event, got 'jobWasExecutd'. Did you mean 'jobWasExecuted'?",
    ],
    [
      'an expression for a schedule',
      async () => TriggerBuilder.newTrigger().withSchedule('0 0 12 * * ?' as never),
      "TriggerBuilder.withSchedule: 'schedule' must be a schedule builder, got '0 0 12 * * ?'. Make one, as in " +
        "CronScheduleBuilder.cronSchedule('0 0 12 * * ?') or SimpleScheduleBuilder.repeatHourlyForever().",
    ],
  ])('names method, argument, what came and what to pass: %s', async (_what, call, message) => {
    await expect(call()).rejects.toThrow(expect.objectContaining({ message }))
  })
})

describe('what a wrong call leaves behind', () => {
  it('is a scheduler that works as before', async () => {
    await expect(scheduler.shutdown({ wait: true } as never)).rejects.toThrow()
    expect(scheduler.isShutdown).toBe(false)
    await expect(scheduler.pauseTriggers('DEFAULT' as never)).rejects.toThrow()
    expect(await scheduler.getTriggerState(triggerKey('t'))).toBe('NORMAL')
    expect(await scheduler.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'))).toEqual(['DEFAULT'])
  })
})

describe('switches of the job builder', () => {
  it.each([
    ['requestRecovery', 'requestsRecovery'],
    ['storeDurably', 'durable'],
    ['disallowConcurrentExecution', 'disallowConcurrentExecution'],
    ['persistJobDataAfterExecution', 'persistJobDataAfterExecution'],
  ] as const)('%s is on by itself and with true, and off with false', (method, field) => {
    const built = (switched?: boolean) => JobBuilder.newJob(report)[method](switched).build()[field]
    expect(built()).toBe(true)
    expect(built(true)).toBe(true)
    expect(built(false)).toBe(false)
    expect(JobBuilder.newJob(report)[method]()[method](false).build()[field]).toBe(false)
  })
})
