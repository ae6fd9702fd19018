import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { createScheduler, zeroSizeThreadPool } from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import * as kinds from './kinds.ts'
import { type Call, errorOf, methodsOf, type Surface, wrongCallsOf } from './surface.ts'

const database = new Database(':memory:')
const threadPool = zeroSizeThreadPool()
const scheduler = await createScheduler({
  jobStore: sqliteJobStore({ database }),
  jobs: [kinds.report],
  threadPool,
})
await scheduler.addJob(kinds.jobDetail)

afterAll(async () => {
  await scheduler.shutdown()
  database.close()
})

const replace = kinds.options({ replace: kinds.boolean })
const entry: kinds.Kind = {
  good: { job: kinds.jobDetail, triggers: [kinds.trigger] },
  code: 'ERR_INVALID_ARGUMENT',
  wrong: [
    { value: null },
    { value: kinds.jobDetail, field: '.job' },
    { value: { job: 'a', triggers: [] }, field: '.job' },
    { value: { job: kinds.jobDetail }, field: '.triggers' },
    { value: { job: kinds.jobDetail, triggers: ['t'] }, field: '.triggers[0]' },
  ],
}

const namedCalendar: kinds.Kind = {
  good: { name: 'x', calendar: kinds.aCalendar.good },
  code: 'ERR_INVALID_ARGUMENT',
  wrong: [
    { value: null },
    { value: { name: ' ', calendar: kinds.aCalendar.good }, field: '.name' },
    { value: { name: 'x', calendar: {} }, field: '.calendar' },
  ],
}

const aSchedule: kinds.Kind = {
  good: { every: '1s' },
  code: 'ERR_INVALID_OPTION',
  wrong: [
    { value: null, field: 'options', code: 'ERR_INVALID_ARGUMENT' },
    { value: 'x', field: 'options', code: 'ERR_INVALID_ARGUMENT' },
    { value: {}, field: 'cron' },
    { value: { every: '1s', in: '1s' }, field: 'in' },
    { value: { cron: 7 }, field: 'cron' },
    { value: { daily: 7 }, field: 'daily' },
    { value: { every: true }, field: 'every' },
    { value: { at: 0 }, field: 'at' },
    { value: { every: '1s', key: '' }, field: 'key' },
    { value: { every: '1s', data: 'x' }, field: 'data' },
    { value: { every: '1s', priority: '1' }, field: 'priority' },
    { value: { every: '1s', unheardOf: 1 }, field: 'unheardOf' },
  ],
}
const aDefinition: kinds.Kind = {
  good: { job: kinds.report, options: { key: 'k', every: '1s' } },
  code: 'ERR_INVALID_ARGUMENT',
  wrong: [
    { value: null },
    { value: 'x' },
    { value: { job: kinds.report } },
    { value: { job: kinds.report, options: {} }, field: 'cron', code: 'ERR_INVALID_OPTION' },
    { value: { job: kinds.report, options: { every: '1s' } }, field: '.key', code: 'ERR_INVALID_OPTION' },
  ],
}
const definitions: kinds.Kind = {
  good: [aDefinition.good],
  code: aDefinition.code,
  wrong: [
    { value: 'x' },
    { value: {} },
    { value: [aDefinition.good, aDefinition.good], field: '[1].key', code: 'ERR_INVALID_OPTION' },
    ...aDefinition.wrong.map((wrong) => {
      const { value, field = '' } = wrong
      return { ...wrong, value: [value], field: field === 'cron' ? field : `[0]${field}` }
    }),
  ],
}

const scheduling: Record<string, Call | readonly Call[]> = {
  schedule: {
    job: kinds.plus(kinds.but(kinds.aJob, 'report'), { value: '', field: 'jobType' }),
    options: aSchedule,
  },
  runNow: {
    jobKey: kinds.jobKeyOrName,
    data: kinds.optional(kinds.object),
    options: kinds.options({ by: kinds.name }),
  },
  scheduleJob: [
    { jobDetail: kinds.aJobDetail, trigger: kinds.aTrigger, options: replace },
    {
      jobDetail: { ...kinds.aJobDetail, wrong: [] },
      triggers: kinds.wrongly(kinds.aTrigger, [kinds.trigger, null], 'triggers[1]'),
      options: replace,
    },
    {
      trigger: { ...kinds.aTrigger, wrong: [] },
      options: kinds.plus(replace, { value: kinds.aTriggerBuilder }),
    },
    {
      jobDetail: kinds.wrongly(kinds.aTrigger, kinds.trigger, 'jobDetail'),
      trigger: { ...kinds.aTrigger, wrong: [] },
    },
  ],
  scheduleJobs: {
    entries: kinds.listOf(entry),
    options: kinds.options({ replace: kinds.boolean, storeNonDurableWhileAwaitingScheduling: kinds.boolean }),
  },
  changeDefinitions: {
    changes: {
      ...kinds.options(
        {
          calendars: kinds.listOf(namedCalendar),
          entries: kinds.listOf(entry),
          removedTriggers: kinds.listOf(kinds.keyOfTrigger),
          removedJobs: kinds.listOf(kinds.keyOfJob),
          removedCalendars: kinds.listOf(kinds.name),
        },
        'changes',
      ),
      good: {},
    },
    options: kinds.options({ dryRun: kinds.boolean }),
  },
  addJob: {
    jobDetail: kinds.aJobDetail,
    options: kinds.options({
      replace: kinds.boolean,
      storeNonDurableWhileAwaitingScheduling: kinds.boolean,
      expected: kinds.aJobDetail,
    }),
  },
  rescheduleJob: {
    triggerKey: kinds.triggerKeyOrName,
    trigger: kinds.aTrigger,
    options: kinds.options({ goesOnFrom: kinds.oneOf('start'), expected: kinds.aTrigger }),
  },
  unscheduleJob: {
    triggerKey: kinds.triggerKeyOrName,
    options: kinds.options({ expected: kinds.aTrigger }),
  },
  unscheduleJobs: { triggerKeys: kinds.listOf(kinds.keyOfTrigger) },
  deleteJob: { jobKey: kinds.jobKeyOrName, options: kinds.options({ expected: kinds.aJobDetail }) },
  deleteJobs: { jobKeys: kinds.listOf(kinds.keyOfJob) },
  triggerJob: {
    jobKey: kinds.jobKeyOrName,
    data: kinds.optional(kinds.object),
    options: kinds.options({ by: kinds.name }),
  },
  getJobDetail: { jobKey: kinds.jobKeyOrName },
  getTrigger: { triggerKey: kinds.triggerKeyOrName },
  getTriggersOfJob: { jobKey: kinds.jobKeyOrName },
  getTriggerState: { triggerKey: kinds.triggerKeyOrName },
  checkExists: { key: kinds.eitherKey },
}

const take = kinds.plus(kinds.number, { value: 0 }, { value: 1001 }, { value: 1.5 })
const shardItem = kinds.plus(kinds.number, { value: -1 }, { value: 1000 })
const shortText = kinds.plus(kinds.name, { value: 'x'.repeat(1001) }, { value: 'a\0b' })
/** What may be any value, given or not. */
const anything: kinds.Kind = { good: 1, wrong: [], code: '' }
const pausing = kinds.options({
  reason: shortText,
  by: shortText,
  until: kinds.plus(kinds.date, { value: new Date(0) }),
})
const resuming = kinds.options({ withoutMissed: kinds.boolean })
const search = kinds.plus(kinds.text, { value: 'x'.repeat(201) })
const jobGroups = kinds.plus(kinds.listOf(kinds.text), { value: Array<string>(1001).fill('g') })
const triggerConditions = {
  group: kinds.groupMatcher,
  name: kinds.text,
  jobKey: kinds.jobKeyOrName,
  jobGroups,
  jobType: kinds.text,
  calendarName: kinds.text,
  dueBefore: kinds.date,
  search,
}
const surfaces: readonly Surface[] = [
  {
    name: 'Scheduler',
    subject: scheduler,
    rejects: { except: ['registerJobs', 'startDelayed', 'withTransaction', 'recordAudit'] },
    calls: {
      ...scheduling,
      reconcile: {
        name: kinds.plus(kinds.name, { value: 'x'.repeat(201) }),
        schedules: definitions,
        options: kinds.options({
          version: kinds.plus(kinds.number, { value: -1 }, { value: 0.5 }),
          dryRun: kinds.boolean,
        }),
      },
      getMetaData: {},
      getJobDetails: { jobKeys: kinds.listOf(kinds.keyOfJob) },
      registerJobs: { jobs: kinds.listOf(kinds.aJob) },
      start: {},
      startDelayed: {
        delayMs: kinds.plus(kinds.number, { value: -1 }, { value: 2 ** 31 }),
      },
      idle: {},
      standby: {},
      shutdown: {
        options: kinds.options({
          waitForJobsToComplete: kinds.boolean,
          timeoutMs: kinds.plus(kinds.number, { value: -1 }, { value: 2 ** 31 }),
        }),
      },
      withTransaction: { handle: kinds.object },
      clear: {},
      pauseTrigger: { triggerKey: kinds.triggerKeyOrName, options: pausing },
      pauseTriggers: { matcher: kinds.groupMatcher, options: pausing },
      pauseJob: { jobKey: kinds.jobKeyOrName, options: pausing },
      pauseJobs: { matcher: kinds.groupMatcher, options: pausing },
      pauseAll: { options: pausing },
      resumeTrigger: { triggerKey: kinds.triggerKeyOrName, options: resuming },
      resumeTriggers: { matcher: kinds.groupMatcher, options: resuming },
      resumeJob: { jobKey: kinds.jobKeyOrName, options: resuming },
      resumeJobs: { matcher: kinds.groupMatcher, options: resuming },
      resumeAll: { options: resuming },
      awaitsResult: { reference: kinds.plus(kinds.name, { value: 'x'.repeat(201) }) },
      reportResult: {
        reference: kinds.plus(kinds.name, { value: 'x'.repeat(201) }),
        result: kinds.options({ error: anything, result: anything }),
      },
      skipNextFire: { triggerKey: kinds.triggerKeyOrName, expected: kinds.optional(kinds.date) },
      disableShard: { jobKey: kinds.jobKeyOrName, item: shardItem },
      enableShard: { jobKey: kinds.jobKeyOrName, item: shardItem },
      getShards: { jobKey: kinds.jobKeyOrName },
      getPausedGroups: {},
      getEarliestDueTime: {},
      getPausedTriggerGroups: {},
      getPausedJobGroups: {},
      getJobGroupNames: {},
      getTriggerGroupNames: {},
      getJobKeys: { matcher: kinds.groupMatcher },
      getTriggerKeys: { matcher: kinds.groupMatcher },
      queryJobs: {
        query: kinds.options(
          { take, after: kinds.keyOfJob, group: kinds.groupMatcher, jobGroups, jobType: kinds.text, search },
          'query',
        ),
      },
      queryTriggers: {
        query: kinds.options(
          { take, after: kinds.keyOfTrigger, ...triggerConditions, state: kinds.oneOf('NORMAL') },
          'query',
        ),
      },
      queryNextTriggers: {
        query: kinds.options({ take, after: kinds.keyOfJob, ...triggerConditions }, 'query'),
      },
      getTriggers: { triggerKeys: kinds.listOf(kinds.keyOfTrigger) },
      getTriggerCounts: {},
      getGroupCounts: { of: kinds.oneOf('jobs') },
      resetTriggerFromErrorState: { triggerKey: kinds.triggerKeyOrName },
      addCalendar: {
        name: kinds.name,
        calendar: kinds.aCalendar,
        options: kinds.options({ replace: kinds.boolean, updateTriggers: kinds.boolean }),
      },
      deleteCalendar: { name: kinds.name },
      getCalendar: { name: kinds.name },
      getCalendarNames: {},
      queryExecutions: {
        query: kinds.options(
          {
            take,
            after: kinds.keyOfJob,
            jobKey: kinds.keyOfJob,
            triggerKey: kinds.keyOfTrigger,
            node: kinds.text,
            jobGroup: kinds.text,
            outcome: kinds.oneOf('failed'),
            laterThanMs: kinds.number,
            tookLongerThanMs: kinds.number,
            errorContains: kinds.text,
            data: kinds.plus(kinds.object, { value: { key: 1, value: 'x' } }),
            manual: kinds.boolean,
            firingId: kinds.text,
            from: kinds.date,
            to: kinds.date,
          },
          'query',
        ),
      },
      getExecution: { fireInstanceId: kinds.name },
      queryExecutionLog: {
        fireInstanceId: kinds.name,
        query: kinds.options({ take, after: kinds.number }, 'query'),
      },
      queryMisfires: {
        query: kinds.options(
          {
            take,
            after: kinds.keyOfJob,
            jobKey: kinds.keyOfJob,
            triggerKey: kinds.keyOfTrigger,
            jobGroup: kinds.text,
            cause: kinds.oneOf('late'),
            from: kinds.date,
            to: kinds.date,
          },
          'query',
        ),
      },
      getMisfireCounts: { query: kinds.options({ from: kinds.date, to: kinds.date }, 'query') },
      queryJobStatus: {
        query: kinds.options(
          {
            take,
            after: kinds.keyOfJob,
            jobKeys: kinds.listOf(kinds.keyOfJob),
            minConsecutiveFailures: kinds.number,
            days: kinds.number,
          },
          'query',
        ),
      },
      getJobStatus: { jobKey: kinds.jobKeyOrName },
      recordAudit: {
        note: {
          ...kinds.plus(
            kinds.options(
              {
                operation: kinds.name,
                by: kinds.text,
                address: kinds.text,
                targetGroup: kinds.text,
                targetName: kinds.text,
                outcome: kinds.oneOf('refused'),
                error: kinds.text,
              },
              'note',
            ),
            { value: undefined },
            { value: {}, field: 'operation' },
          ),
          good: { operation: 'jobs.put', request: 1, before: null, after: [] },
        },
      },
      queryAudit: {
        query: kinds.options(
          {
            take,
            after: kinds.plus(kinds.object, { value: { timeMs: 'x', id: 'a' } }),
            by: kinds.text,
            operation: kinds.text,
            targetGroup: kinds.text,
            targetName: kinds.text,
            outcome: kinds.oneOf('done'),
            node: kinds.text,
            from: kinds.date,
            to: kinds.date,
          },
          'query',
        ),
      },
      getCurrentlyExecutingJobs: {},
      interruptAsked: { because: 'another node calls it' },
      ordered: { because: 'another node calls it' },
      interrupt: { target: kinds.but(kinds.eitherKey) },
    },
  },
  {
    name: 'SchedulerCluster',
    subject: scheduler.cluster,
    rejects: { except: ['onChange'] },
    calls: {
      nodes: {},
      executingJobs: {},
      start: { instanceId: kinds.name },
      standby: { instanceId: kinds.name },
      drain: { instanceId: kinds.name },
      remove: { instanceId: kinds.name },
      interrupt: { target: kinds.but(kinds.eitherKey) },
      onChange: { listener: kinds.callback },
      interruptAsked: { because: 'another node calls it' },
      ordered: { because: 'another node calls it' },
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
        listener: kinds.plus(
          { ...kinds.object, good: { jobAdded: () => {} } },
          { value: { jobAdded: 1 }, field: 'listener.jobAdded' },
        ),
      },
      removeSchedulerListener: { listener: kinds.object },
      getSchedulerListeners: {},
      jobListenersFor: { because: 'the loop calls it' },
      triggerListenersFor: { because: 'the loop calls it' },
    },
  },
  {
    name: 'events',
    subject: { on: scheduler.events.on.bind(scheduler.events) },
    calls: { on: { name: kinds.oneOf('jobAdded'), observer: kinds.callback } },
  },
  {
    name: 'events',
    subject: { next: scheduler.events.next.bind(scheduler.events) },
    rejects: { except: [] },
    calls: {
      next: {
        name: kinds.oneOf('jobAdded'),
        predicate: kinds.optional(kinds.callback),
        options: kinds.options({ signal: { ...kinds.object, good: AbortSignal.abort() } }),
      },
    },
  },
  {
    name: 'index',
    subject: { createScheduler },
    rejects: { except: [] },
    calls: {
      createScheduler: {
        options: kinds.options({
          jobs: kinds.listOf(kinds.aJob),
          jobFactory: kinds.callback,
          calendars: kinds.object,
          schedules: kinds.plus(kinds.oneOf('x'), { value: { schedules: 'x' } }),
          jobStore: kinds.oneOf('x'),
          threadPool: kinds.object,
          schedulerName: kinds.name,
          instanceId: kinds.name,
          idleWaitMs: kinds.plus(kinds.number, { value: 1 }),
          interruptJobsOnShutdown: kinds.boolean,
          interruptJobsOnShutdownWithWait: kinds.boolean,
          plugins: kinds.listOf(kinds.aPlugin),
          logger: kinds.aLogger,
          clock: kinds.aClock,
          ids: kinds.someIds,
        }),
      },
    },
  },
]

function listenerCalls(kind: string): Record<string, Call> {
  const callback = kind === 'Job' ? 'jobToBeExecuted' : 'triggerFired'
  const listener: kinds.Kind = { ...kinds.object, good: { name: 'x', [callback]: () => {} }, wrong: [] }
  return {
    [`add${kind}Listener`]: {
      listener: kinds.plus(listener, { value: {}, field: 'name' }),
      matchers: kinds.variadic(kinds.anyMatcher),
    },
    [`remove${kind}Listener`]: { name: kinds.text },
    [`get${kind}Listener`]: { name: kinds.text },
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
