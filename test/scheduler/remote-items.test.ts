import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  type EndedSharding,
  JobBuilder,
  jobKey,
  type RemoteExecution,
  type RemoteJobContext,
  type RemoteJobOptions,
  ramJobStore,
  type Scheduler,
} from '../../src/index.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'

const key = jobKey('orders')

interface Rig {
  readonly scheduler: Scheduler
  readonly clock: ManualClock
  /** References of what was sent, as `item/total#attempt`. */
  readonly sent: string[]
  readonly ended: EndedSharding[]
  readonly errors: string[]
}

async function open(options: RemoteJobOptions, jobStore: JobStore): Promise<Rig> {
  const clock = new ManualClock()
  const sent: string[] = []
  const send = async (context: RemoteJobContext): Promise<void> => {
    const { shard, attempt } = context
    const reference = `${String(shard?.item)}/${String(shard?.total)}#${attempt}`
    await context.awaitResult({ reference, timeoutMs: 60_000 })
    sent.push(reference)
  }
  const orders = defineRemoteJob('orders', send, options)
  const scheduler = await createScheduler({ clock, logger: false, jobs: [orders], jobStore })
  onTestFinished(() => scheduler.shutdown())
  const ended: EndedSharding[] = []
  const errors: string[] = []
  scheduler.events.on('allShardsDone', ({ firing }) => ended.push(firing))
  scheduler.events.on('schedulerError', ({ error }) => errors.push(error.message))
  await scheduler.start()
  return { scheduler, clock, sent, ended, errors }
}

async function fire({ scheduler }: Rig, data: Record<string, unknown> = {}): Promise<void> {
  await scheduler.addJob(JobBuilder.newJob('orders').withIdentity(key).storeDurably().build(), {
    replace: true,
  })
  await scheduler.triggerJob(key, data)
  await scheduler.idle()
}

describe.each([
  ['memory', () => ramJobStore({ history: { record: 'all' } })],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:', history: { record: 'all' } })],
] as const)('a remote job that says how many items a firing has, on a store in %s', (_, newStore) => {
  test('is interrupted with all its items, also more than a store answers at once', async () => {
    const stopped = new Set<string>()
    const stop = ({ reference }: RemoteExecution): unknown => stopped.add(reference)
    const rig = await open({ items: () => 700, sendsAtOnce: 700, stop }, newStore())
    await fire(rig)
    expect(rig.sent).toHaveLength(700)
    expect(await rig.scheduler.interrupt(key)).toBe(true)
    expect(stopped).toEqual(new Set(rig.sent))
    expect(rig.ended).toHaveLength(1)
    expect(await rig.scheduler.interrupt(key)).toBe(false)
  })

  test('has one execution for each, which is tried again alone, and one line for all', async () => {
    const retry = { attempts: 2, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } as const
    const rig = await open({ retry, items: ({ branches }) => Number(branches) }, newStore())
    const { scheduler, clock, sent, ended } = rig
    await fire(rig, { branches: 3 })
    expect((await scheduler.getJobDetail(key))?.sharding).toMatchObject({ items: 'remote' })
    expect([...sent].sort()).toEqual(['0/3#1', '1/3#1', '2/3#1'])
    await scheduler.reportResult('0/3#1', { result: 'done' })
    await scheduler.reportResult('1/3#1', { error: 'no paper' })
    await scheduler.reportResult('2/3#1', { result: 'done' })
    expect(ended).toEqual([])
    await clock.advance(1000)
    await scheduler.idle()
    expect(sent.slice(3)).toEqual(['1/3#2'])
    await scheduler.reportResult('1/3#2', { result: 'done' })
    expect(ended.map(({ outcome, items }) => [outcome, items.length])).toEqual([['succeeded', 3]])
    const firingId = ended[0]?.fireInstanceId ?? ''
    expect((await scheduler.queryExecutions({ firingId })).items).toHaveLength(4)
    expect(await scheduler.getExecution(firingId)).toMatchObject({ outcome: 'succeeded', shard: null })
  })

  test.each([
    ['is not said', null, true],
    ['is refused', false, false],
  ])('is recovered unless its caller refuses it: it %s', async (__, requests, expected) => {
    const definition = defineRemoteJob('r', () => {}, { items: () => 3 })
    await using scheduler = await createScheduler({ logger: false, jobs: [definition], jobStore: newStore() })
    const builder = JobBuilder.newJob(definition).withIdentity(key).storeDurably()
    if (requests !== null) builder.requestRecovery(requests)
    const job = JobBuilder.from(builder.build()).build()
    await scheduler.addJob(job)
    expect(await scheduler.getJobDetail(key)).toMatchObject({
      requestsRecovery: expected,
      sharding: { items: 'remote' },
    })
    await scheduler.schedule(definition, {
      key: 'declared',
      every: '1h',
      ...(requests !== null && { requestRecovery: requests }),
    })
    expect(await scheduler.getJobDetail('declared')).toMatchObject({ requestsRecovery: expected })
  })

  test('is refused where it does not say at once whether it is sharded', async () => {
    const isSharded = (() => Promise.reject(new Error('no list'))) as unknown as () => boolean
    const definition = defineRemoteJob('r', () => {}, { items: () => 3, isSharded })
    await using scheduler = await createScheduler({ logger: false, jobs: [definition], jobStore: newStore() })
    const job = JobBuilder.newJob(definition).withIdentity(key).storeDurably().build()
    await expect(scheduler.addJob(job)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining("'isSharded' of remote job 'r' must not return a promise") as string,
    })
    expect(await scheduler.checkExists(key)).toBe(false)
  })

  test.each([
    ['none', 0, ['0/1#1']],
    ['less than none', -3, ['0/1#1']],
    ['no number', Number.NaN, ['0/1#1']],
    ['a part of one', 2.9, ['0/2#1', '1/2#1']],
    ['a promise that rejects', async () => Promise.reject(new Error('no list')), ['0/1#1']],
  ])('has at least one: %s', async (__, count, expected) => {
    const items = (): number => (typeof count === 'function' ? (count() as unknown as number) : count)
    const rig = await open({ items }, newStore())
    await fire(rig)
    expect([...rig.sent].sort()).toEqual(expected)
    expect(rig.errors).toEqual([])
  })

  test('has one and says so when it throws', async () => {
    const items = (): number => {
      throw new Error('no list')
    }
    const rig = await open({ items }, newStore())
    await fire(rig)
    expect(rig.sent).toEqual(['0/1#1'])
    expect(rig.errors[0]).toContain("'orders' does not say how many items")
  })

  test('leaves a job alone that has a number of items of its own', async () => {
    const rig = await open({ items: () => 5 }, newStore())
    const job = JobBuilder.newJob('orders').withIdentity(key).storeDurably().withSharding({ items: 2 })
    await rig.scheduler.addJob(job.build())
    await rig.scheduler.triggerJob(key)
    await rig.scheduler.idle()
    expect([...rig.sent].sort()).toEqual(['0/2#1', '1/2#1'])
  })
})

test('remote items are refused where nobody says how many there are', async () => {
  const rig = await open({}, ramJobStore())
  const job = JobBuilder.newJob('orders').withIdentity(key).storeDurably().withSharding({ items: 'remote' })
  await expect(rig.scheduler.addJob(job.build())).rejects.toMatchObject({
    code: 'ERR_INVALID_ARGUMENT',
    message: expect.stringContaining("'orders' does not say how many") as string,
  })
})

test('a remote job that is split may not forbid that executions overlap', async () => {
  const rig = await open({ items: () => 2, disallowConcurrentExecution: true }, ramJobStore())
  const job = JobBuilder.newJob('orders').withIdentity(key).storeDurably().build()
  await expect(rig.scheduler.addJob(job)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
})
