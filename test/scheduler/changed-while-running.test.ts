import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineJob,
  defineRemoteJob,
  JobBuilder,
  JobChainingJobListener,
  type JobSource,
  jobKey,
  ramJobStore,
  type Scheduler,
} from '../../src/index.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'

const theJob = jobKey('billing')

async function open(
  jobStore: JobStore,
  jobs: readonly JobSource[],
  clock = new ManualClock(),
): Promise<Scheduler> {
  const scheduler = await createScheduler({ clock, logger: false, jobs, jobStore })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  return scheduler
}

describe.each([
  ['memory', () => ramJobStore({ history: { record: 'all' } })],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:', history: { record: 'all' } })],
] as const)('a job that is changed while it runs elsewhere, on a store in %s', (_, makeStore) => {
  /** A remote job that has begun with `{ of: 'first' }`, and another one. */
  async function sent() {
    const stopped: string[] = []
    const remote = (name: string) =>
      defineRemoteJob(
        name,
        (context) => context.awaitResult({ reference: `${name}-run`, timeoutMs: 60_000 }),
        {
          stop: ({ reference }) => {
            stopped.push(`${name} stops ${reference}`)
          },
        },
      )
    const [first, second, inline] = [remote('first'), remote('second'), defineJob('inline', () => {})]
    const clock = new ManualClock()
    const scheduler = await open(makeStore(), [first, second, inline], clock)
    const detail = JobBuilder.newJob(first).withIdentity(theJob).storeDurably().usingJobData({ of: 'first' })
    await scheduler.addJob(detail.build())
    await scheduler.triggerJob(theJob)
    await scheduler.idle()
    const replaceBy = (job: JobSource) =>
      scheduler.addJob(
        JobBuilder.newJob(job).withIdentity(theJob).storeDurably().usingJobData({ of: 'another' }).build(),
        { replace: true },
      )
    const shown = async () => {
      const { items } = await scheduler.queryExecutions()
      const execution = await scheduler.getExecution(items[0]?.fireInstanceId ?? '')
      return { jobType: execution?.jobType, data: execution?.dataText, outcome: execution?.outcome }
    }
    return { clock, inline, replaceBy, scheduler, second, shown, stopped }
  }

  test.each(['second', 'inline'] as const)(
    'is stopped by the code that has sent it when another one took its place (%s)',
    async (other) => {
      const { replaceBy, scheduler, shown, stopped, ...jobs } = await sent()
      await replaceBy(jobs[other])
      expect(await scheduler.interrupt(theJob)).toBe(true)
      expect(stopped).toEqual(['first stops first-run'])
      expect(await shown()).toEqual({ jobType: 'first', data: '{"of":"first"}', outcome: 'interrupted' })
    },
  )

  test('is in the history as it was begun, also when it was deleted', async () => {
    const replaced = await sent()
    await replaced.replaceBy(replaced.second)
    await replaced.scheduler.reportResult('first-run', {})
    expect(await replaced.shown()).toEqual({ jobType: 'first', data: '{"of":"first"}', outcome: 'succeeded' })
    const deleted = await sent()
    await deleted.replaceBy(deleted.second)
    await deleted.scheduler.deleteJob(theJob)
    await deleted.clock.advance(60_000)
    await deleted.scheduler.idle()
    expect(await deleted.shown()).toEqual({ jobType: 'first', data: '{"of":"first"}', outcome: 'timedOut' })
  })
})

describe.each([
  ['memory', () => ramJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
] as const)('a job with a retry policy that fails after it was deleted, on a store in %s', (_, makeStore) => {
  const retry = { attempts: 2, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } as const

  async function failing(failing: JobSource, fail: (scheduler: Scheduler) => Promise<unknown>) {
    const told: string[] = []
    const after = defineJob('after', () => {
      told.push('what follows')
    })
    const scheduler = await open(makeStore(), [failing, after])
    scheduler.events.on('jobRetryScheduled', () => told.push('another attempt'))
    scheduler.events.on('retriesExhausted', ({ attempts }) => told.push(`given up after ${attempts}`))
    const chain = new JobChainingJobListener('chain')
    chain.addJobChainLink(theJob, jobKey('after'), { evenAfterFailure: true })
    scheduler.listenerManager.addJobListener(chain)
    await scheduler.addJob(JobBuilder.newJob(after).withIdentity('after').storeDurably().build())
    await scheduler.addJob(JobBuilder.newJob(failing).withIdentity(theJob).storeDurably().build())
    await scheduler.triggerJob(theJob)
    await scheduler.idle()
    await fail(scheduler)
    await scheduler.idle()
    return told
  }

  test('is not told as one that is tried again, and what follows it runs', async () => {
    const job = defineJob(
      'failing',
      async ({ scheduler }) => {
        await scheduler.deleteJob(theJob)
        throw new Error('too late')
      },
      { retry },
    )
    const told = await failing(job, async () => {})
    expect(told.toSorted()).toEqual(['given up after 1', 'what follows'])
  })

  test('nor when one of another type has its key by then', async () => {
    const job = defineJob(
      'failing',
      async ({ scheduler }) => {
        await scheduler.schedule('after', { key: theJob, in: '1h' })
        throw new Error('too late')
      },
      { retry },
    )
    const told = await failing(job, async () => {})
    expect(told.toSorted()).toEqual(['given up after 1', 'what follows'])
  })

  test('ends likewise when it ran elsewhere', async () => {
    const job = defineRemoteJob(
      'failing',
      (context) => context.awaitResult({ reference: 'run', timeoutMs: 60_000 }),
      { retry },
    )
    const told = await failing(job, async (scheduler) => {
      await scheduler.deleteJob(theJob)
      await scheduler.reportResult('run', { error: 'too late' })
    })
    expect(told).toEqual(['what follows'])
  })
})
