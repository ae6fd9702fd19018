import { GroupMatcher, JobBuilder, JobKey, NameMatcher, TriggerKey } from '../../src/index.ts'
import {
  aJob,
  aJobDetail,
  boolean,
  but,
  keyOfJob,
  listOf,
  name,
  named,
  number,
  object,
  optional,
  options,
  orNull,
  plus,
  report,
  text,
} from './kinds.ts'
import type { Surface } from './surface.ts'

const flag = optional(boolean)
const jobData = named(object, { field: 'jobDataMap', code: 'ERR_INVALID_JOB_DATA' })
const identity = but(keyOfJob, 'a')
const backoff = options(
  { type: text, initialMs: number, factor: number, maxMs: number, jitter: number },
  'backoff',
)

export const jobSurfaces: readonly Surface[] = [
  { name: 'JobKey', subject: JobKey, calls: { new: { name, group: optional(name) } } },
  { name: 'TriggerKey', subject: TriggerKey, calls: { new: { name, group: optional(name) } } },
  {
    name: 'JobBuilder',
    subject: JobBuilder,
    calls: {
      newJob: { job: but(aJob, 'report') },
      from: { jobDetail: aJobDetail },
    },
  },
  {
    name: 'JobBuilder.prototype',
    subject: JobBuilder.newJob(report),
    calls: {
      withIdentity: [{ identity }, { name: { ...name, wrong: [{ value: '' }] }, group: optional(name) }],
      withDescription: { description: orNull(text) },
      usingJobData: { data: but(jobData, 'x') },
      setJobData: { data: jobData },
      restOfDataFromTriggers: {},
      requestRecovery: { requests: flag },
      storeDurably: { durable: flag },
      disallowConcurrentExecution: { disallows: flag },
      persistJobDataAfterExecution: { persists: flag },
      withTimeout: {
        timeoutMs: named(plus(number, { value: 0 }, { value: 2 ** 31 }), { code: 'ERR_INVALID_OPTION' }),
      },
      withRetry: {
        options: {
          ...named(object, {}),
          wrong: [
            ...object.wrong.filter(({ value }) => value !== undefined),
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
      onNodes: {
        names: named(listOf({ ...name, good: 'node' }), { field: 'names' }),
        options: options({ required: boolean }),
      },
      build: {},
    },
  },
  {
    name: 'GroupMatcher',
    subject: GroupMatcher,
    calls: {
      groupEquals: { group: text },
      groupStartsWith: { prefix: text },
      groupEndsWith: { suffix: text },
      groupContains: { part: text },
      anyGroup: {},
    },
  },
  {
    name: 'NameMatcher',
    subject: NameMatcher,
    calls: {
      nameEquals: { name: text },
      nameStartsWith: { prefix: text },
      nameEndsWith: { suffix: text },
      nameContains: { part: text },
    },
  },
]
