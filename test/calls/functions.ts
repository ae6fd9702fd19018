import {
  failedInARow,
  firingLaterThan,
  misfiresOver,
  nodeDown,
  noSuccessWithin,
  triggerInError,
} from '../../src/alerts.ts'
import { defineConfig } from '../../src/config.ts'
import {
  and,
  calendarFromJSON,
  defineDataflowJob,
  defineJob,
  defineRemoteJob,
  defineSchedule,
  defineWorkerJob,
  firingLogPlugin,
  inProcessThreadPool,
  isExecutionOf,
  JobChainingJobListener,
  jobKey,
  keyEquals,
  noFiringLaterThan,
  not,
  or,
  parseCrontab,
  parseUnixCron,
  piscinaThreadPool,
  ramJobStore,
  schedulerHealth,
  shutdownHookPlugin,
  successWithin,
  summaryOfMetaData,
  triggerFromJSON,
  triggerKey,
  triggerToJSON,
} from '../../src/index.ts'
import { traced } from '../../src/otel.ts'
import { hashPassword } from '../../src/server.ts'
import { sqlJobStore } from '../../src/spi.ts'
import {
  aJob,
  aLogger,
  anyMatcher,
  aTrigger,
  boolean,
  but,
  callback,
  cronText,
  jobDetail,
  type Kind,
  keyOfJob,
  listOf,
  madeByHand,
  name,
  named,
  number,
  object,
  oneOf,
  optional,
  options,
  plus,
  text,
  zone,
} from './kinds.ts'
import type { Surface } from './surface.ts'

const jobType = named(plus(name, { value: 'x'.repeat(251) }), { field: 'jobType' })
const remoteJobOptions = {
  description: name,
  disallowConcurrentExecution: boolean,
  timeoutMs: plus(number, { value: 0 }),
  schema: oneOf('x'),
}
const jobOptions = { ...remoteJobOptions, persistJobDataAfterExecution: boolean }
const key = { name, group: optional(name) }
const cronDst = oneOf('vixie')
const json = (field: string, code: string): Kind => named(but(object, {}), { field, code })
/** What the health of a scheduler needs when it is made. */
const watchable = {
  getCalendarNames: (): void => {},
  getMetaData: (): void => {},
  events: { on: (): void => {} },
}
const flow = { fetch: (): void => {}, process: (): void => {} }
const moduleUrl: Kind = { good: import.meta.url, wrong: [], code: '' }

export const functionSurfaces: readonly Surface[] = [
  {
    name: 'functions',
    subject: {
      jobKey,
      triggerKey,
      and,
      or,
      not,
      keyEquals,
      defineJob,
      defineSchedule,
      defineWorkerJob,
      firingLogPlugin,
      shutdownHookPlugin,
      successWithin,
      noFiringLaterThan,
      schedulerHealth,
      ramJobStore,
      failedInARow,
      firingLaterThan,
      misfiresOver,
      nodeDown,
      noSuccessWithin,
      triggerInError,
      traced,
      inProcessThreadPool,
      piscinaThreadPool,
      calendarFromJSON,
      summaryOfMetaData,
      triggerFromJSON,
      triggerToJSON,
      isExecutionOf,
      parseCrontab,
      parseUnixCron,
      hashPassword,
      sqlJobStore,
      defineConfig,
      defineDataflowJob,
      defineRemoteJob,
    },
    calls: {
      summaryOfMetaData: { metaData: madeByHand },
      jobKey: key,
      triggerKey: key,
      and: { left: anyMatcher, right: anyMatcher },
      or: { left: anyMatcher, right: anyMatcher },
      not: { matcher: anyMatcher },
      keyEquals: { key: keyOfLike() },
      defineConfig: { config: { ...options({ schedulerName: name, server: name }, 'config'), good: {} } },
      defineDataflowJob: {
        jobType,
        flow: { ...object, good: flow },
        options: options({ ...jobOptions, maxRounds: plus(number, { value: 0 }) }),
      },
      defineRemoteJob: {
        jobType,
        send: callback,
        options: options({ ...remoteJobOptions, stop: callback, connect: callback }),
      },
      defineSchedule: {
        job: plus(but(aJob, 'report'), { value: '', field: 'jobType' }),
        options: {
          good: { key: 'a', every: '1s' },
          code: 'ERR_INVALID_OPTION',
          wrong: [
            { value: null, code: 'ERR_INVALID_ARGUMENT' },
            { value: {}, field: 'cron' },
            { value: { every: '1s' }, field: 'key' },
            { value: { at: 'now' }, field: 'at' },
          ],
        },
      },
      defineJob: { jobType, execute: callback, options: options(jobOptions) },
      defineWorkerJob: { jobType, moduleUrl, options: options({ ...jobOptions, exportName: text }) },
      firingLogPlugin: {
        options: { ...options({ logger: aLogger }), good: { logger: console } },
      },
      shutdownHookPlugin: {
        options: options({
          signals: listOf(oneOf('SIGINT')),
          interruptAfterMs: but(number, null),
          beforeShutdown: callback,
        }),
      },
      successWithin: { jobKey: keyOfJob, ms: plus(number, { value: 0 }) },
      ramJobStore: { options: options({}) },
      failedInARow: { times: plus(number, { value: 0 }), options: options({ name }) },
      firingLaterThan: { ms: plus(number, { value: 0 }), options: options({ name }) },
      noSuccessWithin: { jobKey: keyOfJob, ms: plus(number, { value: 0 }), options: options({ name }) },
      nodeDown: { options: options({ name, quietMs: but(number, null) }) },
      triggerInError: { options: options({ name }) },
      misfiresOver: {
        options: {
          ...options({ name }),
          good: { count: 1, withinMs: 1000 },
          wrong: [
            ...object.wrong,
            { value: {}, field: 'count', code: 'ERR_INVALID_OPTION' },
            { value: { count: 1 }, field: 'withinMs', code: 'ERR_INVALID_OPTION' },
          ],
        },
      },
      traced: { job: callback },
      noFiringLaterThan: { ms: plus(number, { value: 0 }) },
      schedulerHealth: {
        scheduler: { ...object, good: watchable },
        options: options({ timeoutMs: but(number, null), maxAgeMs: but(number, null) }),
      },
      inProcessThreadPool: { options: options({ size: but(number, null) }) },
      piscinaThreadPool: {
        options: options({
          size: but(plus(number, { value: 0 }), null),
          execArgv: named(listOf(text), { field: 'execArgv' }),
          atomics: oneOf('sync'),
        }),
      },
      calendarFromJSON: { json: json('type', 'ERR_INVALID_CALENDAR') },
      triggerFromJSON: { json: json('type', 'ERR_INVALID_TRIGGER') },
      triggerToJSON: { trigger: aTrigger },
      isExecutionOf: { context: { ...object, good: { jobDetail } }, job: aJob },
      parseCrontab: {
        text,
        options: options({
          timeZone: text,
          dst: cronDst,
          userColumn: oneOf('absent'),
          seconds: oneOf('never'),
        }),
      },
      hashPassword: { password: { ...text, good: 'long enough' } },
      parseUnixCron: {
        text: cronText('* * * * *'),
        options: options({ timeZone: zone, dst: cronDst, seconds: oneOf('never') }),
      },
      sqlJobStore: {
        database: { ...object, good: { connect: (): void => {} } },
        options: options({ tablePrefix: text, migrate: oneOf('never'), jobData: oneOf('json') }),
      },
    },
  },
  {
    name: 'JobChainingJobListener',
    subject: JobChainingJobListener,
    calls: { new: { name } },
  },
  {
    name: 'JobChainingJobListener',
    subject: new JobChainingJobListener('x'),
    calls: {
      addJobChainLink: {
        first: keyOfJob,
        second: { ...keyOfJob, good: jobKey('b') },
        options: options({ evenAfterFailure: boolean }),
      },
      jobWasExecuted: { because: 'the scheduler calls it' },
      allShardsDone: { because: 'the scheduler calls it' },
    },
  },
]

function keyOfLike(): Kind {
  return { ...object, good: jobKey('a'), wrong: [...object.wrong, { value: {} }, { value: { name: 'a' } }] }
}
