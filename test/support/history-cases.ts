import {
  createScheduler,
  defineJob,
  type ExecutionSummary,
  type JobBuilder,
  JobKey,
  JobBuilder as Jobs,
  type Scheduler,
  type SchedulerOptions,
  TriggerBuilder,
  TriggerKey,
} from 'quartz-ts'
import type { JobStore } from 'quartz-ts/spi'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import type { CommonOptions, StoreMaker } from './sql-stores.ts'

const good = defineJob('good', () => {})
const bad = defineJob('bad', () => {
  throw new Error('no paper')
})
const slow = defineJob('slow', async ({ signal }) => {
  signal.throwIfAborted()
  await new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error)
    })
  })
})

async function open(jobStore: JobStore, options: SchedulerOptions = {}): Promise<Scheduler> {
  const scheduler = await createScheduler({
    logger: false,
    jobStore,
    instanceId: 'node-1',
    jobs: [good, bad, slow],
    ...options,
  })
  onTestFinished(() => scheduler.shutdown())
  return scheduler
}

type Change = (builder: JobBuilder<object>) => JobBuilder<object>

/** Runs a job once under a trigger of its own name, as often as its retries say. */
async function runOnce(
  scheduler: Scheduler,
  type: string,
  change: Change = (builder) => builder,
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    scheduler.events.on('jobWasExecuted', ({ context, error }) => {
      const isLast = error === null || context.attempt === (context.jobDetail.retry?.attempts ?? 1)
      if (context.jobKey.name === type && isLast) resolve()
    })
    scheduler.events.on('jobExecutionVetoed', () => {
      resolve()
    })
  })
  const job = change(Jobs.newJob(type).withIdentity(type, 'jobs')).build()
  await scheduler.scheduleJob(job, TriggerBuilder.newTrigger().withIdentity(type, 'triggers').build())
  await ended
}

const brief = ({ jobKey, outcome, attempt }: ExecutionSummary): string =>
  `${jobKey.name} ${outcome} ${String(attempt)}`

async function runSome(stores: StoreMaker, options: CommonOptions): Promise<Scheduler> {
  const newStore = await stores.prepare()
  const scheduler = await open(newStore(options))
  await scheduler.start()
  await runOnce(scheduler, 'good')
  await runOnce(scheduler, 'bad', (job) =>
    job.withRetry({ attempts: 2, backoff: { type: 'fixed', initialMs: 0 } }),
  )
  await runOnce(scheduler, 'slow', (job) => job.withTimeout(1))
  await scheduler.shutdown({ waitForJobsToComplete: true })
  return open(newStore(options))
}

/** What both engines have to do about the history of executions. */
export function historyCases(stores: StoreMaker): void {
  describe(`the history of executions on ${stores.engine}`, () => {
    test('holds failures by default, with what they failed with', async () => {
      const scheduler = await runSome(stores, {})
      const { items, next } = await scheduler.queryExecutions()
      expect(next).toBeNull()
      expect(items.map(brief)).toEqual(['slow timedOut 1', 'bad failed 2', 'bad failed 1'])
      const failed = items.at(-1) ?? expect.fail('there is one')
      expect(failed).toMatchObject({ jobType: 'bad', node: 'node-1', recovering: false })
      expect(failed.errorText).toContain('no paper')
      expect(failed.triggerKey.equals(new TriggerKey('bad', 'triggers'))).toBe(true)
      expect(failed.jobKey.equals(new JobKey('bad', 'jobs'))).toBe(true)
      expect(failed.fireTimeMs).toBeGreaterThanOrEqual(failed.scheduledFireTimeMs)
      expect(failed.finishedTimeMs).toBeGreaterThanOrEqual(failed.fireTimeMs)
    })

    test('holds everything, or nothing, when told to', async () => {
      const everything = await runSome(stores, { history: { record: 'all' } })
      const { items } = await everything.queryExecutions()
      expect(items.map(brief)).toEqual([
        'slow timedOut 1',
        'bad failed 2',
        'bad failed 1',
        'good succeeded 1',
      ])
      const nothing = await runSome(stores, { history: false })
      await expect(nothing.queryExecutions()).resolves.toEqual({ items: [], next: null })
    })

    test('can be searched and read a page at a time', async () => {
      const scheduler = await runSome(stores, { history: { record: 'all' } })
      const search = async (query: Parameters<Scheduler['queryExecutions']>[0]): Promise<string[]> =>
        (await scheduler.queryExecutions(query)).items.map(brief)
      await expect(search({ jobKey: new JobKey('good', 'jobs') })).resolves.toEqual(['good succeeded 1'])
      await expect(search({ jobKey: new JobKey('good') })).resolves.toEqual([])
      const triggerKey = new TriggerKey('bad', 'triggers')
      await expect(search({ triggerKey })).resolves.toEqual(['bad failed 2', 'bad failed 1'])
      await expect(search({ triggerKey, node: 'node-2' })).resolves.toEqual([])
      await expect(search({ outcome: 'timedOut', node: 'node-1' })).resolves.toEqual(['slow timedOut 1'])
      const { items } = await scheduler.queryExecutions()
      const first = new Date(items.at(-1)?.fireTimeMs ?? 0)
      await expect(search({ from: first })).resolves.toHaveLength(4)
      await expect(search({ to: first })).resolves.toEqual([])
      const paged: ExecutionSummary[] = []
      for (let after = null; ; ) {
        const page = await scheduler.queryExecutions({ take: 1, ...(after === null ? {} : { after }) })
        paged.push(...page.items)
        if (page.next === null) break
        after = page.next
      }
      expect(paged).toEqual(items)
      await expect(scheduler.queryExecutions({ take: 0 })).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
      })
    })
  })
  describe(`entries of the history on ${stores.engine}`, () => {
    vetoCase(stores)
    lostCase(stores)
  })
}

function vetoCase(stores: StoreMaker): void {
  test('names vetoes and interruptions', async () => {
    const newStore = await stores.prepare()
    const scheduler = await open(newStore({ history: { record: 'all' } }))
    scheduler.events.on('jobToBeExecuted', ({ context }) => {
      void scheduler.interrupt({ fireInstanceId: context.fireInstanceId })
    })
    scheduler.listenerManager.addTriggerListener({
      name: 'veto',
      vetoJobExecution: (trigger) => trigger.key.name === 'good',
    })
    await scheduler.start()
    await runOnce(scheduler, 'good')
    await runOnce(scheduler, 'slow')
    await scheduler.shutdown({ waitForJobsToComplete: true })
    const reader = await open(newStore())
    const { items } = await reader.queryExecutions()
    expect(items.map(brief)).toEqual(['slow interrupted 1', 'good vetoed 1'])
  })
}

function lostCase(stores: StoreMaker): void {
  test('name what went with its node', async () => {
    const newStore = await stores.prepare()
    const clock = new ManualClock()
    const opened = async (): Promise<Testbed> => {
      const store = newStore()
      onTestFinished(() => store.shutdown())
      const bed = new Testbed(store, clock, 'node-1')
      await store.initialize(bed.context)
      return bed
    }
    const before = await opened()
    await before.schedule('t', { job: jobDetail('job', { durable: true }) })
    const { fireTimeMs } = await before.start('t')
    await before.store.shutdown()
    const after = await opened()
    await after.store.schedulerStarted()
    const { items } = await after.store.queryExecutions({})
    expect(items.map(brief)).toEqual(['job lost 1'])
    expect(items[0]).toMatchObject({ fireTimeMs, finishedTimeMs: null, node: 'node-1', jobType: 'noop' })
  })
}
