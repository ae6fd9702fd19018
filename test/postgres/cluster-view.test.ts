import {
  createScheduler,
  defineJob,
  JobBuilder,
  JobKey,
  type Scheduler,
  TriggerBuilder,
  zeroSizeThreadPool,
} from 'quartz-ts'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

interface Started {
  readonly scheduler: Scheduler
  /** Resolves when a job of this name runs here. */
  readonly runs: (name: string) => Promise<void>
  /** Reasons of interruptions. */
  readonly ended: Promise<unknown>
}

async function start(
  newStore: Awaited<ReturnType<typeof stores.prepare>>,
  instanceId: string,
): Promise<Started> {
  let end: (reason: unknown) => void = () => {}
  const ended = new Promise((resolve) => {
    end = resolve
  })
  const begun = new Set<string>()
  const waiting = new Map<string, () => void>()
  const work = defineJob('work', async ({ jobKey, signal }) => {
    begun.add(jobKey.name)
    waiting.get(jobKey.name)?.()
    if (!signal.aborted) {
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve)
      })
    }
    end(jobKey.name)
  })
  const scheduler = await createScheduler({
    logger: false,
    jobStore: newStore(),
    instanceId,
    jobs: [work],
    idleWaitMs: 3_600_000,
  })
  onTestFinished(() => scheduler.shutdown())
  const runs = (name: string): Promise<void> =>
    begun.has(name) ? Promise.resolve() : new Promise((resolve) => waiting.set(name, resolve))
  return { scheduler, runs, ended }
}

const soon = (): ReturnType<TriggerBuilder['build']> =>
  TriggerBuilder.newTrigger().withIdentity('now').build()
const work = (name: string): ReturnType<JobBuilder['build']> =>
  JobBuilder.newJob('work').withIdentity(name).storeDurably().build()

test('nodes see each other and what each of them runs, and interrupt it by its job', async () => {
  const newStore = await stores.prepare()
  const one = await start(newStore, 'node-1')
  await one.scheduler.start()
  const two = await start(newStore, 'node-2')
  await one.scheduler.scheduleJob(work('long'), soon())
  await one.runs('long')
  await two.scheduler.start()
  const nodes = await two.scheduler.cluster.nodes()
  expect(nodes.map(({ instanceId, isSelf, state }) => [instanceId, isSelf, state])).toEqual(
    expect.arrayContaining([
      ['node-1', false, 'alive'],
      ['node-2', true, 'alive'],
    ]),
  )
  expect(nodes.every(({ jobTypes, pid }) => jobTypes?.join() === 'work' && pid === process.pid)).toBe(true)
  const executing = await two.scheduler.cluster.executingJobs()
  expect(executing).toHaveLength(1)
  expect(executing[0]).toMatchObject({ node: 'node-1' })
  await expect(two.scheduler.interrupt(new JobKey('nobody'))).resolves.toBe(false)
  await expect(two.scheduler.interrupt(new JobKey('long'))).resolves.toBe(true)
  await expect(one.ended).resolves.toBe('long')
})

test('one execution on another node is interrupted by its id', async () => {
  const newStore = await stores.prepare()
  const one = await start(newStore, 'node-1')
  await one.scheduler.start()
  const two = await start(newStore, 'node-2')
  await one.scheduler.scheduleJob(work('long'), soon())
  await one.runs('long')
  const [execution = expect.fail('it runs')] = await two.scheduler.cluster.executingJobs()
  await expect(two.scheduler.interrupt({ fireInstanceId: 'nobody' })).resolves.toBe(false)
  await expect(two.scheduler.interrupt(execution)).resolves.toBe(true)
  await expect(one.ended).resolves.toBe('long')
})

test('a job type that only a node without slots has the code of is told as unknown by one that has slots', async () => {
  const newStore = await stores.prepare()
  const nothing = defineJob('report', () => {})
  const schedules = await createScheduler({
    logger: false,
    jobStore: newStore(),
    instanceId: 'schedules',
    jobs: [nothing],
    threadPool: zeroSizeThreadPool(),
  })
  onTestFinished(() => schedules.shutdown())
  await schedules.start()
  await schedules.scheduleJob(JobBuilder.newJob(nothing).withIdentity('daily').build(), soon())
  const two = await start(newStore, 'node-2')
  const told = two.scheduler.events.next('jobTypeUnknown')
  await two.scheduler.start()
  expect(await told).toMatchObject({ jobType: 'report', waiting: 1 })
  const nodes = await two.scheduler.cluster.nodes()
  expect(nodes.map(({ instanceId, jobTypes }) => [instanceId, jobTypes])).toEqual(
    expect.arrayContaining([
      ['schedules', []],
      ['node-2', ['work']],
    ]),
  )
})
