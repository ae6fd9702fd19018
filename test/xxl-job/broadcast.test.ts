import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createScheduler, type EndedSharding, JobBuilder, jobKey, type Scheduler } from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'
import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  type XxlJobContext,
  type XxlJobOptions,
  xxlJob,
} from '../../src/xxl-job.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const accessToken = 'a-token-of-your-own'
const appName = 'billing-executor'
const theJob = jobKey('billing')

/** Executors that registered over HTTP, and what they were sent. */
class Shop {
  admin = createXxlJobAdmin({ accessToken, logger: false })
  readonly clock = new ManualClock()
  /** As `address index/total param`. */
  readonly seen: string[] = []
  readonly ended: EndedSharding[] = []
  /** Addresses whose next run fails. */
  readonly failing = new Set<string>()
  /** Runs end no sooner than this. */
  gate: Promise<void> = Promise.resolve()
  readonly #server = createServer((request, response) => {
    this.admin.listener(request, response)
  })

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    onTestFinished(async () => {
      await this.admin.close()
      this.#server.close()
    })
    return this
  }

  /** Another executor. */
  async join(): Promise<{ readonly address: string; readonly close: () => Promise<void> }> {
    const at = this.#server.address()
    const place = { address: '' }
    const executor = createXxlJobExecutor({
      adminAddresses: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
      appName,
      accessToken,
      port: 0,
      host: '127.0.0.1',
      logPath: join(temporaryFolder(), 'logs'),
      logger: false,
      handlers: { invoices: (context) => this.#run(place.address, context) },
    })
    const registered = this.admin.events.next('executorRegistered')
    await executor.start()
    onTestFinished(() => executor.close())
    place.address = (await registered).address
    return { address: place.address, close: () => executor.close() }
  }

  /** As many of them, in the order of their addresses. */
  async joinAll(count: number): Promise<readonly string[]> {
    const addresses: string[] = []
    while (addresses.length < count) addresses.push((await this.join()).address)
    return addresses.sort()
  }

  async schedule(
    options: Partial<XxlJobOptions<{ param?: string }>> = {},
    { filename = ':memory:', stores = true } = {},
  ): Promise<Scheduler> {
    const { admin, clock } = this
    const route = 'SHARDING_BROADCAST'
    const billing = xxlJob('billing', { admin, appName, jobId: 17, handler: 'invoices', route, ...options })
    const scheduler = await createScheduler({
      clock,
      jobs: [billing],
      jobStore: sqliteJobStore({ filename, history: { record: 'all' } }),
      logger: false,
    })
    onTestFinished(() => scheduler.shutdown())
    scheduler.events.on('allShardsDone', ({ firing }) => this.ended.push(firing))
    const job = JobBuilder.newJob(billing).withIdentity(theJob).storeDurably()
    if (stores) await scheduler.addJob(job.usingJobData({ param: 'May' }).build())
    await scheduler.start()
    return scheduler
  }

  /** What the executors were sent by one firing, in the order of the parts. */
  async fire(scheduler: Scheduler, data = {}): Promise<readonly string[]> {
    this.seen.length = 0
    const done = scheduler.events.next('allShardsDone')
    await scheduler.triggerJob(theJob, data)
    await done
    return [...this.seen].sort((one, other) => indexOf(one) - indexOf(other))
  }

  async #run(address: string, context: XxlJobContext): Promise<void> {
    const { index, total } = context.shard
    this.seen.push(`${address} ${index}/${total} ${context.param}`)
    await this.gate
    if (this.failing.delete(address)) context.handleFail('no paper')
    else context.handleSuccess('sent')
  }
}

const later = { attempts: 2, backoff: { type: 'fixed', initialMs: 60_000, jitter: 0 } } as const
const indexOf = (run: string): number => Number(/ (\d+)\//.exec(run)?.[1])
/** What each of these executors is sent, in the order of their addresses. */
const partsOf = (...addresses: readonly string[]): readonly string[] =>
  [...addresses].sort().map((address, index) => `${address} ${index}/${addresses.length} May`)

describe('a broadcast of an XXL-JOB job', () => {
  test('has a part for each executor that is there when it fires, and ends once', async () => {
    const shop = await new Shop().open()
    const [a, b, c] = [await shop.join(), await shop.join(), await shop.join()]
    const scheduler = await shop.schedule()
    expect(await shop.fire(scheduler)).toEqual(partsOf(a.address, b.address, c.address))
    const d = await shop.join()
    expect(await shop.fire(scheduler)).toEqual(partsOf(a.address, b.address, c.address, d.address))
    await b.close()
    expect(await shop.fire(scheduler)).toEqual(partsOf(a.address, c.address, d.address))
    await scheduler.idle()
    expect(shop.ended.map(({ outcome, items }) => [outcome, items.length])).toEqual([
      ['succeeded', 3],
      ['succeeded', 4],
      ['succeeded', 3],
    ])
    const [last] = shop.ended.slice(-1)
    const firingId = last?.fireInstanceId ?? ''
    const { items } = await scheduler.queryExecutions({ firingId })
    expect(items.map(({ shard }) => shard?.item).sort()).toEqual([0, 1, 2])
    expect(await scheduler.getExecution(firingId)).toMatchObject({ outcome: 'succeeded', shard: null })
  })

  test('repeats a part that failed alone, at the executor in its place', async () => {
    const shop = await new Shop().open()
    const addresses = await shop.joinAll(3)
    const [, second = ''] = addresses
    shop.failing.add(second)
    const scheduler = await shop.schedule({ retry: later })
    const follows = scheduler.events.next('jobRetryScheduled')
    const fired = shop.fire(scheduler)
    await follows
    await shop.clock.advance(60_000)
    expect(await fired).toEqual(partsOf(...addresses).toSpliced(1, 0, `${second} 1/3 May`))
    expect(shop.ended).toMatchObject([{ outcome: 'succeeded', errorText: null }])
    expect(shop.ended[0]?.items).toHaveLength(3)
  })

  test('repeats a part at the first executor when there are fewer', async () => {
    const shop = await new Shop().open()
    const executors = [await shop.join(), await shop.join()]
    const [first, second] = executors.sort((one, other) => (one.address < other.address ? -1 : 1))
    if (first === undefined || second === undefined) expect.fail('there are two')
    shop.failing.add(second.address)
    const scheduler = await shop.schedule({ retry: later })
    const follows = scheduler.events.next('jobRetryScheduled')
    const fired = shop.fire(scheduler)
    await follows
    await second.close()
    await shop.clock.advance(60_000)
    expect([...(await fired)].sort()).toEqual(
      [...partsOf(first.address, second.address), `${first.address} 1/2 May`].sort(),
    )
    expect(shop.ended).toMatchObject([{ outcome: 'succeeded' }])
  })

  test('has one part, which fails, when no executor is there', async () => {
    const shop = await new Shop().open()
    expect(await shop.fire(await shop.schedule())).toEqual([])
    expect(shop.ended).toMatchObject([{ outcome: 'failed', items: [{ item: 0, outcome: 'failed' }] }])
    expect(shop.ended[0]?.errorText).toContain(`No executor of '${appName}' is registered`)
  })

  test('has a part for each address that was entered by hand, in that order', async () => {
    const shop = await new Shop().open()
    const addresses = await shop.joinAll(2)
    await shop.join()
    await shop.admin.close()
    const executors = { [appName]: addresses.toReversed() }
    shop.admin = createXxlJobAdmin({ accessToken, logger: false, executors })
    const [first, second] = addresses
    expect(await shop.fire(await shop.schedule())).toEqual([`${second} 0/2 May`, `${first} 1/2 May`])
  })

  test('is one part when somebody asks for a run at one address', async () => {
    const shop = await new Shop().open()
    const scheduler = await shop.schedule()
    for (const address of await shop.joinAll(2)) {
      const data = { 'xxlJob.address': address, 'xxlJob.param': 'June' }
      expect(await shop.fire(scheduler, data)).toEqual([`${address} 0/1 June`])
    }
  })

  test('does not wait for an earlier one: executors go by their block strategy', async () => {
    const shop = await new Shop().open()
    await shop.join()
    let release = (): void => {}
    shop.gate = new Promise((resolve) => {
      release = resolve
    })
    const scheduler = await shop.schedule({ blockStrategy: 'DISCARD_LATER' })
    const sent = shop.admin.events.next('runSent')
    await scheduler.triggerJob(theJob)
    await sent
    await scheduler.idle()
    expect(await shop.fire(scheduler)).toEqual([])
    expect(shop.ended).toMatchObject([{ outcome: 'failed', items: [{ item: 0 }] }])
    const done = scheduler.events.next('allShardsDone')
    release()
    expect((await done).firing.outcome).toBe('succeeded')
  })

  test('fails when its job was stored under another route', async () => {
    const shop = await new Shop().open()
    const filename = join(temporaryFolder(), 'jobs.db')
    const before = await shop.schedule({ route: 'FIRST' }, { filename })
    await before.shutdown()
    await shop.join()
    const scheduler = await shop.schedule({}, { filename, stores: false })
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.triggerJob(theJob)
    expect((await ended).error?.message).toContain('was not split into parts')
    expect(shop.seen).toEqual([])
  })
})
