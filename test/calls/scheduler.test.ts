import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { createScheduler, zeroSizeThreadPool } from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import {
  aCalendar,
  aClock,
  aJob,
  aJobDetail,
  aLogger,
  anyMatcher,
  aPlugin,
  aTrigger,
  aTriggerBuilder,
  boolean,
  but,
  callback,
  date,
  eitherKey,
  groupMatcher,
  jobDetail,
  type Kind,
  keyOfJob,
  keyOfTrigger,
  listOf,
  name,
  named,
  number,
  object,
  oneOf,
  optional,
  options,
  plus,
  report,
  someIds,
  text,
  trigger,
  variadic,
  wrongly,
} from './kinds.ts'
import { type Call, errorOf, methodsOf, type Surface, wrongCallsOf } from './surface.ts'

const database = new Database(':memory:')
const threadPool = zeroSizeThreadPool()
const scheduler = await createScheduler({
  jobStore: sqliteJobStore({ database }),
  jobs: [report],
  threadPool,
})
await scheduler.addJob(jobDetail)

afterAll(async () => {
  await scheduler.shutdown()
  database.close()
})

const replace = options({ replace: boolean })
const entry: Kind = {
  good: { job: jobDetail, triggers: [trigger] },
  code: 'ERR_INVALID_ARGUMENT',
  wrong: [
    { value: null },
    { value: jobDetail, field: '.job' },
    { value: { job: 'a', triggers: [] }, field: '.job' },
    { value: { job: jobDetail }, field: '.triggers' },
    { value: { job: jobDetail, triggers: ['t'] }, field: '.triggers[0]' },
  ],
}

const scheduling: Record<string, Call | readonly Call[]> = {
  scheduleJob: [
    { jobDetail: aJobDetail, trigger: aTrigger, options: replace },
    {
      jobDetail: { ...aJobDetail, wrong: [] },
      triggers: wrongly(aTrigger, [trigger, null], 'triggers[1]'),
      options: replace,
    },
    { trigger: { ...aTrigger, wrong: [] }, options: plus(replace, { value: aTriggerBuilder }) },
    { jobDetail: wrongly(aTrigger, trigger, 'jobDetail'), trigger: { ...aTrigger, wrong: [] } },
  ],
  scheduleJobs: { entries: listOf(entry), options: replace },
  addJob: {
    jobDetail: aJobDetail,
    options: options({ replace: boolean, storeNonDurableWhileAwaitingScheduling: boolean }),
  },
  rescheduleJob: { triggerKey: keyOfTrigger, trigger: aTrigger },
  unscheduleJob: { triggerKey: keyOfTrigger },
  unscheduleJobs: { triggerKeys: listOf(keyOfTrigger) },
  deleteJob: { jobKey: keyOfJob },
  deleteJobs: { jobKeys: listOf(keyOfJob) },
  triggerJob: { jobKey: keyOfJob, data: optional(object) },
  getJobDetail: { jobKey: keyOfJob },
  getTrigger: { triggerKey: keyOfTrigger },
  getTriggersOfJob: { jobKey: keyOfJob },
  getTriggerState: { triggerKey: keyOfTrigger },
  checkExists: { key: eitherKey },
}

const take = plus(number, { value: 0 }, { value: 1001 }, { value: 1.5 })
const surfaces: readonly Surface[] = [
  {
    name: 'Scheduler',
    subject: scheduler,
    rejects: { except: ['registerJobs', 'startDelayed', 'withTransaction'] },
    calls: {
      ...scheduling,
      getMetaData: {},
      registerJobs: { jobs: listOf(aJob) },
      start: {},
      startDelayed: {
        delayMs: named(plus(number, { value: -1 }, { value: 2 ** 31 }), { code: 'ERR_INVALID_OPTION' }),
      },
      idle: {},
      standby: {},
      shutdown: {
        options: options({
          waitForJobsToComplete: boolean,
          timeoutMs: plus(number, { value: -1 }, { value: 2 ** 31 }),
        }),
      },
      withTransaction: { handle: object },
      clear: {},
      pauseTrigger: { triggerKey: keyOfTrigger },
      pauseTriggers: { matcher: groupMatcher },
      pauseJob: { jobKey: keyOfJob },
      pauseJobs: { matcher: groupMatcher },
      pauseAll: {},
      resumeTrigger: { triggerKey: keyOfTrigger },
      resumeTriggers: { matcher: groupMatcher },
      resumeJob: { jobKey: keyOfJob },
      resumeJobs: { matcher: groupMatcher },
      resumeAll: {},
      getPausedTriggerGroups: {},
      getPausedJobGroups: {},
      getJobGroupNames: {},
      getTriggerGroupNames: {},
      getJobKeys: { matcher: groupMatcher },
      getTriggerKeys: { matcher: groupMatcher },
      queryJobs: {
        query: options({ take, after: keyOfJob, group: groupMatcher, jobType: text }, 'query'),
      },
      queryTriggers: {
        query: options(
          {
            take,
            after: keyOfTrigger,
            group: groupMatcher,
            jobKey: keyOfJob,
            calendarName: text,
            state: oneOf('NORMAL'),
          },
          'query',
        ),
      },
      resetTriggerFromErrorState: { triggerKey: keyOfTrigger },
      addCalendar: {
        name,
        calendar: aCalendar,
        options: options({ replace: boolean, updateTriggers: boolean }),
      },
      deleteCalendar: { name },
      getCalendar: { name },
      getCalendarNames: {},
      queryExecutions: {
        query: options(
          {
            take,
            after: keyOfJob,
            jobKey: keyOfJob,
            triggerKey: keyOfTrigger,
            node: text,
            outcome: oneOf('failed'),
            from: date,
            to: date,
          },
          'query',
        ),
      },
      getCurrentlyExecutingJobs: {},
      interrupt: { target: but(eitherKey) },
    },
  },
  {
    name: 'SchedulerTransaction',
    subject: scheduler.withTransaction(database),
    rejects: { except: [] },
    calls: scheduling,
  },
  {
    name: 'ListenerManager',
    subject: scheduler.listenerManager,
    calls: {
      ...listenerCalls('Job'),
      ...listenerCalls('Trigger'),
      addSchedulerListener: {
        listener: plus(object, { value: { jobAdded: 1 }, field: 'listener.jobAdded' }),
      },
      removeSchedulerListener: { listener: object },
      getSchedulerListeners: {},
      jobListenersFor: { because: 'the loop calls it' },
      triggerListenersFor: { because: 'the loop calls it' },
    },
  },
  {
    name: 'events',
    subject: { on: scheduler.events.on.bind(scheduler.events) },
    calls: { on: { name: oneOf('jobAdded'), observer: callback } },
  },
  {
    name: 'events',
    subject: { next: scheduler.events.next.bind(scheduler.events) },
    rejects: { except: [] },
    calls: { next: { name: oneOf('jobAdded'), predicate: optional(callback) } },
  },
  {
    name: 'index',
    subject: { createScheduler },
    rejects: { except: [] },
    calls: {
      createScheduler: {
        options: options({
          jobs: listOf(aJob),
          jobStore: oneOf('x'),
          threadPool: object,
          schedulerName: name,
          instanceId: name,
          idleWaitMs: plus(number, { value: 1 }),
          interruptJobsOnShutdown: boolean,
          interruptJobsOnShutdownWithWait: boolean,
          plugins: listOf(aPlugin),
          logger: aLogger,
          clock: aClock,
          ids: someIds,
        }),
      },
    },
  },
]

function listenerCalls(kind: string): Record<string, Call> {
  const listener: Kind = { ...object, good: { name: 'x' }, wrong: [] }
  return {
    [`add${kind}Listener`]: {
      listener: plus(listener, { value: {}, field: 'name' }),
      matchers: variadic(anyMatcher),
    },
    [`remove${kind}Listener`]: { name: text },
    [`get${kind}Listener`]: { name: text },
    [`get${kind}Listeners`]: {},
  }
}

describe.each(surfaces)('$name', (surface) => {
  test('has every method in the table', () => {
    expect(Object.keys(surface.calls).sort()).toEqual(methodsOf(surface.subject).sort())
  })

  for (const call of wrongCallsOf(surface)) {
    test(call.title, async () => {
      expect(await errorOf(call)).toMatchObject({
        name: 'InvalidArgumentError',
        code: call.code,
        field: call.field,
      })
    })
  }
})
