import {
  DisallowConcurrentExecution,
  GroupMatcher,
  JobBuilder,
  JobKey,
  jobKey,
  keyEquals,
  NameMatcher,
  PersistJobDataAfterExecution,
  TriggerKey,
} from '../../src/index.ts'
import * as kinds from './kinds.ts'
import type { Surface } from './surface.ts'

const flag = kinds.optional(kinds.boolean)
const jobData = kinds.named(kinds.object, { field: 'jobDataMap', code: 'ERR_INVALID_JOB_DATA' })
const key = kinds.plus({ ...kinds.madeByHand, good: jobKey('a') }, { value: {} })
const target: kinds.Kind = { ...kinds.madeByHand, good: () => {} }
const identity = kinds.but(kinds.keyOfJob, 'a')
const backoff = kinds.options(
  {
    type: kinds.text,
    initialMs: kinds.number,
    factor: kinds.number,
    maxMs: kinds.number,
    jitter: kinds.number,
  },
  'backoff',
)

export const jobSurfaces: readonly Surface[] = [
  {
    name: 'JobKey',
    subject: JobKey,
    calls: { new: { name: kinds.name, group: kinds.optional(kinds.name) } },
  },
  {
    name: 'TriggerKey',
    subject: TriggerKey,
    calls: { new: { name: kinds.name, group: kinds.optional(kinds.name) } },
  },
  {
    name: 'JobBuilder',
    subject: JobBuilder,
    calls: {
      new: { draft: kinds.madeByHand },
      newJob: { job: kinds.but(kinds.aJob, 'report') },
      from: { jobDetail: kinds.aJobDetail },
    },
  },
  {
    name: 'JobBuilder.prototype',
    subject: JobBuilder.newJob(kinds.report),
    calls: {
      withIdentity: [
        { identity },
        { name: { ...kinds.name, wrong: [{ value: '' }] }, group: kinds.optional(kinds.name) },
      ],
      withDescription: { description: kinds.orNull(kinds.text) },
      usingJobData: { data: kinds.but(jobData, 'x') },
      setJobData: { data: jobData },
      restOfDataFromTriggers: {},
      requestRecovery: { requests: flag },
      storeDurably: { durable: flag },
      disallowConcurrentExecution: { disallows: flag },
      persistJobDataAfterExecution: { persists: flag },
      withTimeout: {
        timeoutMs: kinds.orNull(kinds.plus(kinds.number, { value: 0 }, { value: 2 ** 31 })),
      },
      withRetry: {
        options: {
          ...kinds.named(kinds.object, {}),
          wrong: [
            ...kinds.object.wrong.filter(({ value }) => value !== undefined && value !== null),
            { value: {}, field: 'attempts', code: 'ERR_INVALID_OPTION' },
            { value: { attempts: 0 }, field: 'attempts', code: 'ERR_INVALID_OPTION' },
            { value: { attempts: 2, retries: 1 }, field: 'retries', code: 'ERR_INVALID_OPTION' },
            ...backoff.wrong
              .filter(({ field }) => field === 'backoff')
              .map((wrong) => ({ ...wrong, value: { attempts: 2, backoff: wrong.value } }))
              .filter(({ value }) => value.backoff !== null),
          ],
        },
      },
      withSharding: {
        options: {
          ...kinds.named(kinds.object, {}),
          good: { items: 2 },
          wrong: [
            ...kinds.object.wrong.filter(({ value }) => value !== null),
            { value: {}, field: 'items', code: 'ERR_INVALID_OPTION' },
            { value: { items: 0 }, field: 'items', code: 'ERR_INVALID_OPTION' },
            { value: { items: 2, shards: 1 }, field: 'shards', code: 'ERR_INVALID_OPTION' },
            { value: { items: 2, strategy: 'x' }, field: 'strategy', code: 'ERR_INVALID_OPTION' },
            { value: { items: 2, parameters: { 2: 'x' } }, field: 'parameters', code: 'ERR_INVALID_OPTION' },
          ],
        },
      },
      onNodes: {
        names: kinds.orNull(kinds.named(kinds.listOf({ ...kinds.name, good: 'node' }), { field: 'names' })),
        options: kinds.options({ required: kinds.boolean }),
      },
      build: {},
    },
  },
  {
    name: 'GroupMatcher',
    subject: GroupMatcher,
    calls: {
      new: { operator: { ...kinds.madeByHand, good: 'equals' } },
      groupEquals: { group: kinds.text },
      groupStartsWith: { prefix: kinds.text },
      groupEndsWith: { suffix: kinds.text },
      groupContains: { part: kinds.text },
      anyGroup: {},
    },
  },
  {
    name: 'NameMatcher',
    subject: NameMatcher,
    calls: {
      new: { operator: { ...kinds.madeByHand, good: 'equals' } },
      nameEquals: { name: kinds.text },
      nameStartsWith: { prefix: kinds.text },
      nameEndsWith: { suffix: kinds.text },
      nameContains: { part: kinds.text },
    },
  },
  {
    name: 'GroupMatcher.prototype',
    subject: GroupMatcher.anyGroup(),
    calls: { isMatch: { key }, isMatchGroup: { group: kinds.text } },
  },
  { name: 'NameMatcher.prototype', subject: NameMatcher.nameEquals('a'), calls: { isMatch: { key } } },
  { name: 'keyEquals', subject: keyEquals(jobKey('a')), calls: { isMatch: { key } } },
  {
    name: 'functions',
    subject: { DisallowConcurrentExecution, PersistJobDataAfterExecution },
    calls: { DisallowConcurrentExecution: { target }, PersistJobDataAfterExecution: { target } },
  },
]
