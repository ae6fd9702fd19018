import { describe, expect, it } from 'vitest'
import { checkJobSource, defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { Job } from '../../src/jobs/job-definition.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { JobRegistry } from '../../src/jobs/job-registry.ts'

const report = defineJob('report', () => undefined)
class Cleanup implements Job {
  execute(): void {}
}

describe('JobRegistry', () => {
  it('finds jobs of every form by their type', () => {
    const registry = new JobRegistry([report, Cleanup])
    expect(registry.jobTypes).toEqual(['report', 'Cleanup'])
    expect(registry.has('report')).toBe(true)
    expect(registry.get('report')).toBe(report)
    expect(registry.find('Cleanup')).toMatchObject({ jobClass: Cleanup })
    expect(registry.find('other')).toBeNull()
    expect(registry.has('other')).toBe(false)
  })

  it('refuses a second job of the same type', () => {
    const twice = [report, defineJob('report', () => 1)]
    expect(() => new JobRegistry(twice)).toThrow(/'report' is registered already/)
    expect(() => new JobRegistry(twice, { code: 'ERR_INVALID_OPTION' })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'jobs' }),
    )
  })

  it.each([
    ['definition', report, 'report'],
    ['class', Cleanup, 'Cleanup'],
  ])('says where the very same %s is listed twice', (_, job, name) => {
    const others = [defineJob('one', () => 1), defineJob('two', () => 2)] as const
    const refused = `'jobs[2]' is the definition of '${name}' that 'jobs[1]' is already: leave one of them out.`
    expect(() => new JobRegistry([others[0], job, job, others[1]])).toThrow(refused)
    const registry = new JobRegistry([])
    expect(() => {
      registry.registerAll([others[0], job, job], () => {})
    }).toThrow(refused)
    expect(registry.jobTypes).toEqual([])
  })

  it.each([
    ['reports', [report, Cleanup], /Unknown job type 'reports'. Did you mean 'report'\?/],
    ['thumbnails', [report, Cleanup], /Known: report, Cleanup\./],
    ['thumbnails', [], /No job is registered\./],
    [
      'thumbnails',
      Array.from({ length: 12 }, (_, index) => defineJob(`number ${index}`, () => 1)),
      /number 9, \.\.\.\./,
    ],
  ])('says for the unknown type %s what is known', (jobType, jobs, message) => {
    expect(() => new JobRegistry(jobs).get(jobType)).toThrow(
      expect.objectContaining({
        code: 'ERR_UNKNOWN_JOB_TYPE',
        message: expect.stringMatching(message) as string,
      }),
    )
  })

  it('completes a job that was built from the name of its type', () => {
    const strict = defineJob('strict', () => 1, {
      description: 'from the definition',
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
      timeoutMs: 5,
      retry: { attempts: 2 },
    })
    const registry = new JobRegistry([strict, report])
    const bare = JobBuilder.newJob('strict').withIdentity('a')
    expect(registry.complete(bare.build())).toEqual(JobBuilder.newJob(strict).withIdentity('a').build())
    expect(registry.complete(JobBuilder.from(bare.build()).build())).toMatchObject({ timeoutMs: 5 })
    const own = bare.withDescription('own').withTimeout(9).withRetry({ attempts: 7 }).build()
    expect(registry.complete(own)).toMatchObject({
      description: 'own',
      timeoutMs: 9,
      retry: { attempts: 7 },
      disallowConcurrentExecution: true,
    })
    const none = bare.withDescription(null).withTimeout(null).withRetry(null)
    expect(registry.complete(none.build())).toMatchObject({ description: null, timeoutMs: null, retry: null })
    const ofDefinition = JobBuilder.newJob(strict).withTimeout(null).withRetry(null).build()
    expect(registry.complete(ofDefinition)).toMatchObject({ timeoutMs: null, retry: null })
    const changed = { ...JobBuilder.newJob('strict').withIdentity('a').build(), durable: true, timeoutMs: 9 }
    expect(registry.complete(changed)).toEqual({
      ...JobBuilder.newJob(strict).withIdentity('a').storeDurably().build(),
      timeoutMs: 9,
    })
    const flags = JobBuilder.newJob('report').disallowConcurrentExecution().build()
    expect(registry.complete(flags)).toEqual(
      JobBuilder.newJob(report).withIdentity(flags.key).disallowConcurrentExecution().build(),
    )
  })

  it('answers a job without the mark of what was left to its definition', () => {
    const registry = new JobRegistry([report])
    const bare = JobBuilder.newJob('report').withIdentity('a').build()
    const said = Object.freeze({ ...bare, description: 'own', timeoutMs: 9, retry: { attempts: 1 } })
    for (const job of [bare, { ...bare }, said as JobDetail]) {
      expect(Object.getOwnPropertySymbols(job)).toHaveLength(1)
      const completed = registry.complete(job)
      expect(Object.getOwnPropertySymbols(completed)).toEqual([])
      expect(Object.keys(completed)).toEqual(Object.keys(job))
      expect(registry.complete(completed)).toBe(completed)
    }
  })
})

it.each([
  { kind: 'inline', jobType: 'q' },
  { kind: 'inline', jobType: 'q', jobClass: null, execute: () => undefined },
  { kind: 'inline', jobType: 'q', jobClass: null, execute: null, retry: null, timeoutMs: null, schema: null },
  { kind: 'worker', jobType: 'q', retry: null, timeoutMs: null, schema: null },
])('what only looks like a definition is refused: %j', (source) => {
  expect(() => {
    checkJobSource('createScheduler', 'jobs[0]', source)
  }).toThrow(/'jobs\[0\]' must be what defineJob or defineWorkerJob returned/)
})
