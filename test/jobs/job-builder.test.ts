import { describe, expect, expectTypeOf, it } from 'vitest'
import type { JobDataMap } from '../../src/core/job-data-map.ts'
import { jobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { Job, JobExecutionContext } from '../../src/jobs/job-definition.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

interface ReportData {
  to: string
  pages?: number
}

const report = defineJob<ReportData>('report', () => undefined, { description: 'Mails the report' })

class Greeting implements Job<{ name: string }> {
  static readonly jobType = 'greeting'
  static readonly disallowConcurrentExecution = true
  execute(context: JobExecutionContext<{ name: string }>): void {
    context.result = `Hello ${context.mergedJobDataMap.name}`
  }
}

describe('JobBuilder', () => {
  it('fills in defaults and what the definition says', () => {
    const job = JobBuilder.newJob(report).withIdentity('daily').restOfDataFromTriggers().build()
    expect(job).toEqual({
      key: jobKey('daily'),
      jobType: 'report',
      description: 'Mails the report',
      jobDataMap: {},
      durable: false,
      requestsRecovery: false,
      disallowConcurrentExecution: false,
      persistJobDataAfterExecution: false,
      timeoutMs: null,
      retry: null,
      nodeAffinity: null,
      sharding: null,
      plan: null,
    })
  })

  it('sets every field', () => {
    const job = everything()
    expect(job.key.toString()).toBe('reports.daily')
    expect(job).toMatchObject({
      description: 'every morning',
      jobDataMap: { to: 'ops@example.com', pages: 3 },
      durable: true,
      requestsRecovery: true,
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
      timeoutMs: 5000,
      retry: { attempts: 3, backoff: { type: 'fixed', initialMs: 10 } },
    })
  })

  it('takes a class, a name, and a key as identity', () => {
    expect(
      JobBuilder.newJob(Greeting).withIdentity(jobKey('hi', 'people')).usingJobData({ name: 'Ada' }).build(),
    ).toMatchObject({
      jobType: 'greeting',
      key: { name: 'hi', group: 'people' },
      disallowConcurrentExecution: true,
    })
    expect(JobBuilder.newJob('elsewhere').build().jobType).toBe('elsewhere')
  })

  it('gives jobs without an identity different names in group DEFAULT', () => {
    const build = () => JobBuilder.newJob(report).restOfDataFromTriggers().build()
    const [a, b] = [build(), build()]
    expect(a.key.group).toBe('DEFAULT')
    expect(a.key.name).not.toBe(b.key.name)
  })

  it('builds frozen jobs that share nothing with what was passed or with each other', () => {
    const data = { nested: { list: [1] } }
    const builder = JobBuilder.newJob('any').withIdentity('a').usingJobData(data)
    const first = builder.build()
    data.nested.list.push(2)
    const second = builder.usingJobData('more', true).build()
    expect(first.jobDataMap).toEqual({ nested: { list: [1] } })
    expect(second.jobDataMap).toEqual({ nested: { list: [1, 2] }, more: true })
    expect(Object.isFrozen(first)).toBe(true)
    expect(Object.isFrozen((first.jobDataMap['nested'] as typeof data.nested).list)).toBe(true)
  })

  it('adds entries with usingJobData and replaces them all with setJobData', () => {
    const builder = JobBuilder.newJob('any').usingJobData({ a: 1, b: 2 }).usingJobData({ b: 3 })
    expect(builder.build().jobDataMap).toEqual({ a: 1, b: 3 })
    expect(builder.setJobData({ c: 4 }).build().jobDataMap).toEqual({ c: 4 })
  })

  it('builds a copy without what the job has', () => {
    const full = JobBuilder.from(everything()).onNodes(['a']).withSharding({ items: 2 }).build()
    const bare = JobBuilder.from(full)
      .withDescription(null)
      .withTimeout(null)
      .withRetry(null)
      .onNodes(null)
      .withSharding(null)
      .build()
    const without = { description: null, timeoutMs: null, retry: null, nodeAffinity: null, sharding: null }
    // That of a split job is its default, which goes with the sharding.
    expect(bare).toEqual({ ...full, ...without, requestsRecovery: false })
  })

  it.each([
    ['timeoutMs', { timeoutMs: -5 }],
    ['timeoutMs', { timeoutMs: undefined }],
    ['durable', { durable: 1 }],
    ['requestsRecovery', { requestsRecovery: null }],
    ['description', { description: 5 }],
    ['retry.attempts', { retry: { attempts: 0 } }],
    ['retry.backoff', { retry: { attempts: 3 } }],
    ['retry.backoff', { retry: { attempts: 3, backoff: { type: 'fixed' } } }],
    ['sharding.items', { sharding: { ...split.sharding, items: -3 } }],
    ['sharding.items', { sharding: { ...split.sharding, items: 2_000_000 } }],
    ['sharding', { sharding: { items: 3 } }],
    ['nodeAffinity.names', { nodeAffinity: { names: ['a"b'], required: true } }],
    ['nodeAffinity.required', { nodeAffinity: { names: ['a'] } }],
    ['plan', { plan: 'x' }],
  ])('refuses a copy by hand whose %s no builder would make', (field, changes) => {
    const job = { ...split, ...changes } as JobDetail
    expect(() => JobBuilder.from(job)).toThrow(expect.objectContaining({ field: `jobDetail.${field}` }))
  })

  it('gives back everything through JobBuilder.from', () => {
    expect(JobBuilder.from(everything()).build()).toEqual(everything())
    const renamed = JobBuilder.from(everything()).withIdentity('weekly').build()
    expect(renamed).toEqual({ ...everything(), key: jobKey('weekly') })
  })

  it('never has items of a broadcast recovered, in whatever order it was said', () => {
    const broadcast = { items: 'nodes' } as const
    const start = (): JobBuilder => JobBuilder.newJob('any').withIdentity('a')
    const split = start().withSharding({ items: 3 }).build()
    const byHand = { ...start().withSharding(broadcast).build(), requestsRecovery: true }
    for (const builder of [
      start().withSharding(broadcast),
      start().requestRecovery().withSharding(broadcast),
      start().withSharding(broadcast).requestRecovery(),
      JobBuilder.from(split).withSharding(broadcast),
      JobBuilder.from(byHand),
    ]) {
      expect(builder.build()).toMatchObject({ requestsRecovery: false, sharding: broadcast })
    }
  })

  it.each([
    ['a plain job', null, null, { items: 3 }, true],
    ['a split job', { items: 3 }, null, null, false],
    ['a split job', { items: 3 }, null, { items: 2 }, true],
    ['a broadcast', { items: 'nodes' }, null, { items: 3 }, true],
    ['a plain job that is recovered', null, true, { items: 3 }, true],
    ['a split job that is not', { items: 3 }, false, { items: 2 }, false],
    ['a split job that is not', { items: 3 }, false, null, false],
  ] as const)(
    'rebuilds %s, split by %j, said %j, now %j: recovery %j',
    (_, first, said, second, recovered) => {
      const builder = JobBuilder.newJob('any').withSharding(first)
      if (said !== null) builder.requestRecovery(said)
      const again = JobBuilder.from(builder.build()).withSharding(second).build()
      expect(again.requestsRecovery).toBe(recovered)
    },
  )

  it('says that null is right where a copy by hand lacks a field', () => {
    for (const field of ['nodeAffinity', 'sharding', 'plan']) {
      const job = { ...everything(), [field]: undefined } as JobDetail
      expect(() => JobBuilder.from(job)).toThrow(
        `JobBuilder.from: 'jobDetail.${field}' must be an object or null, got undefined. Build one:`,
      )
    }
  })

  it('keeps the scheduler’s own notes when a job is rebuilt', () => {
    const job: JobDetail = { ...everything(), jobDataMap: { to: 'a', QRTZ_NOTE: 1 } }
    expect(JobBuilder.from(job).build().jobDataMap).toEqual({ to: 'a', QRTZ_NOTE: 1 })
  })

  it('names the key of data that cannot be stored', () => {
    const builder = JobBuilder.newJob('any')
      .withIdentity('daily')
      .usingJobData({ when: new Date(0) })
    expect(() => builder.build()).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_JOB_DATA',
        message: expect.stringContaining(
          "job 'DEFAULT.daily' cannot be stored: 'jobDataMap.when' holds an instance of Date",
        ) as string,
      }),
    )
    for (const data of [[1], new Map([['to', 'x']]), new Date(0), Promise.resolve({})]) {
      expect(() => JobBuilder.newJob('any').usingJobData(data as object)).toThrow(/must be an object/)
    }
  })

  it('refuses wrong timeouts, retries and types of job', () => {
    const builder = JobBuilder.newJob(report)
    expect(() => builder.withTimeout(0)).toThrow(
      /'timeoutMs' must be a whole number from 1 to 2147483647, got 0/,
    )
    expect(() => builder.withRetry({ attempts: 0 })).toThrow(/'attempts'/)
    expect(() => JobBuilder.newJob(' ')).toThrow(/job type/)
    expect(() => JobBuilder.newJob({} as never)).toThrow(/defineJob or defineWorkerJob/)
  })

  it('does not compile with data of another shape', () => {
    const builder = JobBuilder.newJob(report)
    expectTypeOf(builder).toEqualTypeOf<JobBuilder<ReportData>>()
    builder.usingJobData({ to: 'ops@example.com' }).usingJobData('pages', 2)
    // @ts-expect-error the address is a string
    builder.usingJobData({ to: 1 })
    // @ts-expect-error there is no such key
    builder.usingJobData({ too: 'ops@example.com' })
    // @ts-expect-error there is no such key
    builder.usingJobData('too', 'ops@example.com')
    // @ts-expect-error the address is a string
    builder.usingJobData('to', 1)
    // @ts-expect-error there is no such key
    builder.setJobData({ too: 1 })
    expectTypeOf(JobBuilder.newJob(Greeting)).toEqualTypeOf<JobBuilder<{ name: string }>>()
    expectTypeOf(JobBuilder.newJob('any')).toEqualTypeOf<JobBuilder>()
  })
})

const split = JobBuilder.newJob('split').withIdentity('a').withSharding({ items: 2 }).build()

function everything(): JobDetail {
  return JobBuilder.newJob(report)
    .withIdentity('daily', 'reports')
    .withDescription('every morning')
    .usingJobData({ to: 'ops@example.com' })
    .usingJobData('pages', 3)
    .storeDurably()
    .requestRecovery()
    .disallowConcurrentExecution()
    .persistJobDataAfterExecution()
    .withTimeout(5000)
    .withRetry({ attempts: 3, backoff: { type: 'fixed', initialMs: 10 } })
    .build()
}

describe('data that are no plain entries', () => {
  class Order {
    readonly id = 1
  }
  const throwing = {
    get total(): number {
      throw new Error('boo')
    },
  }

  it.each<[string, object, string]>([
    ['an instance of a class', new Order(), 'an Order'],
    ['a symbol as key', { [Symbol('id')]: 1 }, 'the key Symbol(id)'],
    ['an accessor that throws', throwing, 'a value that throws when it is read'],
  ])('are refused where they are given: %s', (_name, data, found) => {
    const refused: unknown = expect.objectContaining({
      code: 'ERR_INVALID_JOB_DATA',
      message: expect.stringContaining(found) as unknown,
    })
    expect(() => JobBuilder.newJob('any').usingJobData(data)).toThrow(refused)
    expect(() => JobBuilder.newJob('any').setJobData(data)).toThrow(refused)
    expect(() => TriggerBuilder.newTrigger().usingJobData(data as JobDataMap)).toThrow(refused)
  })
})
