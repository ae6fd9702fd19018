import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  jobKey,
  type RemoteJobContext,
  ramJobStore,
  type Scheduler,
} from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { CompletionAnswer, JobCompletion, JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'

/** Another node's deadline ends what this one ends, between its look and its write. */
class Overtaken extends DelegatingJobStore {
  override async triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    const late = completions.filter(({ isAwaited }) => isAwaited)
    await this.inner.triggeredJobsComplete(late.map((each) => ({ ...each, mayBeLate: true })))
    return super.triggeredJobsComplete(completions)
  }
}

const key = jobKey('orders')
const awaitRun = (context: RemoteJobContext) =>
  context.awaitResult({ reference: 'run', timeoutMs: 5000, onTimeout: 'retry' })
/** What is told of an end. */
const ends = [
  'jobWasExecuted',
  'triggerComplete',
  'triggerFinalized',
  'jobRetryScheduled',
  'retriesExhausted',
  'jobInterrupted',
  'schedulerError',
] as const

/** A started scheduler whose job has fired once. */
async function open(send: (context: RemoteJobContext) => unknown, store: JobStore, attempts = 2) {
  const clock = new ManualClock()
  const job = defineRemoteJob('r', send, {
    retry: { attempts, backoff: { initialMs: 60_000 } },
    stop: () => {},
  })
  const scheduler = await createScheduler({
    clock,
    logger: false,
    jobs: [job],
    jobStore: new Overtaken(store),
  })
  onTestFinished(() => scheduler.shutdown())
  const told: string[] = []
  for (const name of ends) scheduler.events.on(name, () => told.push(name))
  scheduler.listenerManager.addJobListener({
    name: 'listener',
    jobWasExecuted: () => {
      told.push('the job listener')
    },
  })
  await scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(key)
  await scheduler.idle()
  return { scheduler, clock, told }
}

async function counted(scheduler: Scheduler): Promise<number> {
  await scheduler.idle()
  const { items } = await scheduler.queryJobStatus({ days: 1 })
  const days = items.flatMap((status) => status.days)
  return days.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, 0)
}

const options = { history: {}, jobStatus: {} }

describe.each([
  // A store in memory counts what it is told, also by the other one.
  ['memory', () => ramJobStore(options), 1],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:', ...options }), 0],
] as const)('a firing that another node ends first, on a store in %s', (_, newStore, count) => {
  test('leaves a result late', async () => {
    const { scheduler, told } = await open(awaitRun, newStore())
    const [first = expect.fail('it executes')] = await scheduler.cluster.executingJobs()
    const late = scheduler.events.next('resultLate')
    expect(await scheduler.reportResult('run', { result: 'paid' })).toBe(false)
    expect(await late).toMatchObject({ reference: 'run', fireInstanceId: first.fireInstanceId })
    expect(await scheduler.reportResult('run')).toBe(false)
    expect(told).toEqual([])
    expect(await counted(scheduler)).toBe(count)
  })

  test.each([1, 2])(
    'is not told by one whose result is the failure of one of %i attempts',
    async (attempts) => {
      const { scheduler, told } = await open(awaitRun, newStore(), attempts)
      expect(await scheduler.reportResult('run', { error: 'no money' })).toBe(false)
      expect(told).toEqual([])
    },
  )

  test('is not interrupted', async () => {
    const { scheduler, told } = await open(awaitRun, newStore())
    expect(await scheduler.interrupt(key)).toBe(false)
    expect(told).toEqual([])
    expect(await counted(scheduler)).toBe(count)
  })

  test('is not told by the one who sees its deadline pass', async () => {
    const { scheduler, clock, told } = await open(awaitRun, newStore())
    await clock.advance(10_000)
    await scheduler.idle()
    expect(await scheduler.cluster.executingJobs()).toEqual([])
    expect(told).toEqual([])
    expect(await counted(scheduler)).toBe(count)
  })

  test('is not told by the one whose job throws after it was written down', async () => {
    const send = async (context: RemoteJobContext): Promise<void> => {
      await awaitRun(context)
      throw new Error('refused')
    }
    const { scheduler, told } = await open(send, newStore())
    expect(await scheduler.cluster.executingJobs()).toEqual([])
    expect(told).toEqual([])
    expect(await counted(scheduler)).toBe(count)
  })
})
