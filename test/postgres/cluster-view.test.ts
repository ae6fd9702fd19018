import {
  createScheduler,
  defineJob,
  defineRemoteJob,
  JobBuilder,
  JobKey,
  type JobSource,
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

test('another node stands by, drains and starts when it is asked, and says so', async () => {
  const newStore = await stores.prepare()
  const one = await start(newStore, 'node-1')
  await one.scheduler.start()
  // Asks without being a node itself, as a server that only looks on does.
  const { cluster } = (await start(newStore, 'looker')).scheduler
  await one.scheduler.scheduleJob(work('long'), soon())
  await one.runs('long')
  expect(await cluster.drain('node-1')).toMatchObject({
    changed: true,
    confirmed: true,
    node: { instanceId: 'node-1', status: 'draining', executing: 1 },
  })
  expect(one.scheduler.isInStandbyMode).toBe(true)
  expect(await cluster.standby('node-1')).toMatchObject({ changed: false, confirmed: true })
  await one.scheduler.interrupt(new JobKey('long'))
  await one.scheduler.idle()
  expect(await cluster.nodes()).toMatchObject([{ status: 'draining', executing: 0 }])
  expect(await cluster.start('node-1')).toMatchObject({ confirmed: true, node: { status: 'started' } })
  expect(one.scheduler.isStarted).toBe(true)
  expect(await cluster.standby('node-1')).toMatchObject({ confirmed: true, node: { status: 'standby' } })
  await expect(cluster.start('node-9')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  // What it does by itself is seen at once as well.
  await one.scheduler.start()
  await expect.poll(async () => (await cluster.nodes())[0]?.status).toBe('started')
  await expect.poll(async () => (await cluster.nodes())[0]?.eventLoopLagMs).toBeTypeOf('number')
})

test('a node that does not hear is asked, and it is said that it has not confirmed', async () => {
  const newStore = await stores.prepare()
  const one = await start(() => newStore({ listen: false }), 'node-1')
  await one.scheduler.start()
  const two = await start(newStore, 'node-2')
  expect(await two.scheduler.cluster.standby('node-1')).toMatchObject({
    changed: true,
    confirmed: false,
    node: { status: 'started' },
  })
})

test('a node that fell silent is removed, and what it ran goes on at once', async () => {
  const newStore = await stores.prepare()
  const patient = (): ReturnType<typeof newStore> =>
    newStore({ checkInIntervalMs: 200, failedAfterMs: 3_600_000 })
  const one = await start(patient, 'node-1')
  const two = await start(patient, 'node-2')
  await one.scheduler.start()
  await one.scheduler.scheduleJob(
    JobBuilder.newJob('work').withIdentity('long').requestRecovery().build(),
    soon(),
  )
  await one.runs('long')
  await two.scheduler.start()
  const { cluster } = two.scheduler
  await expect(cluster.remove('node-1')).rejects.toMatchObject({ code: 'ERR_NODE_ALIVE' })
  // Its row stays, with the execution that it leaves behind.
  await one.scheduler.shutdown()
  await expect.poll(async () => (await cluster.nodes()).find(({ isSelf }) => !isSelf)?.state).toBe('overdue')
  const recovered = two.scheduler.events.next('nodeRecovered')
  await cluster.remove('node-1')
  expect(await recovered).toMatchObject({ node: 'node-1', recoveredExecutions: 1 })
  expect((await cluster.nodes()).map(({ instanceId }) => instanceId)).toEqual(['node-2'])
  await two.runs('long')
  expect(await cluster.nodes()).toMatchObject([{ instanceId: 'node-2', executing: 1 }])
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

test('a node without the code of a remote job has one that has it stop what runs elsewhere', async () => {
  const newStore = await stores.prepare()
  const stopped: string[] = []
  const open = async (instanceId: string, jobs: readonly JobSource[]): Promise<Scheduler> => {
    const scheduler = await createScheduler({ logger: false, jobStore: newStore(), instanceId, jobs })
    onTestFinished(() => scheduler.shutdown())
    return scheduler
  }
  const remoteOn = (instanceId: string): JobSource =>
    defineRemoteJob('remote', (context) => context.awaitResult({ reference: 'run', timeoutMs: 600_000 }), {
      stop: ({ reference }) => stopped.push(`${reference} by ${instanceId}`),
    })
  const nodes = await Promise.all(['node-1', 'node-2'].map((id) => open(id, [remoteOn(id)])))
  for (const node of nodes) await node.start()
  const [first = expect.fail('there are two')] = nodes
  const key = new JobKey('remote')
  await first.addJob(JobBuilder.newJob('remote').withIdentity(key).storeDurably().build())
  await first.triggerJob(key)
  const looker = await open('looker', [])
  const inFlight = async (): Promise<number> => (await looker.cluster.executingJobs()).length
  await expect.poll(inFlight).toBe(1)
  await Promise.all(nodes.map((node) => node.idle()))
  const ended = Promise.race(nodes.map((node) => node.events.next('jobWasExecuted')))
  expect(await looker.interrupt(key)).toBe(true)
  expect((await ended).error?.code).toBe('ERR_JOB_INTERRUPTED')
  await expect.poll(inFlight).toBe(0)
  expect(stopped).toEqual(['run by node-1'])
  expect(await looker.interrupt(key)).toBe(false)
})

test('a node that is to stop what runs elsewhere ends it itself, although it runs the job here by now', async () => {
  const newStore = await stores.prepare()
  const open = async (instanceId: string, job: JobSource): Promise<Scheduler> => {
    const scheduler = await createScheduler({ logger: false, jobStore: newStore(), instanceId, jobs: [job] })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.start()
    return scheduler
  }
  const remote = defineRemoteJob('job', (context) =>
    context.awaitResult({ reference: 'run', timeoutMs: 600_000 }),
  )
  const before = await open('before', remote)
  const key = new JobKey('job')
  await before.addJob(JobBuilder.newJob(remote).withIdentity(key).storeDurably().build())
  await before.triggerJob(key)
  await before.idle()
  await before.shutdown()
  const here = defineJob('job', () => {})
  const node = await open('node-1', here)
  await open('node-2', here)
  expect(await node.cluster.executingJobs()).toHaveLength(1)
  expect(await node.interrupt(key)).toBe(true)
  // What another node is asked to end may end later than this answer.
  expect(await node.cluster.executingJobs()).toEqual([])
})
