import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createScheduler, type EndedSharding, JobBuilder, jobKey, type Scheduler } from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { systemClock } from '../../src/time/clock.ts'
import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  type XxlJobContext,
  type XxlJobFromDataOptions,
  xxlJobFromData,
} from '../../src/xxl-job.ts'
import { run as runCli, temporaryFile } from '../cli/fake-host.ts'
import { latch } from '../support/latch.ts'
import { serverFixture } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const accessToken = 'a-token-of-your-own'
/** The columns of a job besides its number, as XXL-JOB's database has them. */
const job = (route: string, more: object = {}): object => ({
  job_group: 1,
  job_desc: '',
  schedule_type: 'NONE',
  executor_handler: 'invoices',
  executor_param: 'May',
  executor_route_strategy: route,
  executor_block_strategy: 'SERIAL_EXECUTION',
  executor_timeout: 0,
  executor_fail_retry_count: 1,
  ...more,
})
const script = {
  executor_handler: '',
  glue_type: 'GLUE_SHELL',
  glue_source: 'echo "part $2 of $3"\n',
  glue_updatetime: '2024-05-01 10:00:00',
}
const tables = {
  xxl_job_group: [{ id: 1, app_name: 'billing', address_type: 0 }],
  xxl_job_info: [
    { id: 17, ...job('ROUND') },
    { id: 18, ...job('SHARDING_BROADCAST') },
    { id: 19, ...job('FIRST', script) },
  ],
}

/** Executors that register with an admin, and a store into which a dump was imported. */
class Shop {
  readonly admin = createXxlJobAdmin({ accessToken, logger: false })
  readonly filename = join(temporaryFolder(), 'jobs.db')
  /** As `index/total param`. */
  readonly seen: string[] = []
  readonly ended: EndedSharding[] = []
  /** How many runs fail from now on. */
  failing = 0
  gate: Promise<unknown> = Promise.resolve()
  readonly #server = createServer((request, response) => {
    this.admin.listener(request, response)
  })

  async open(executors: number): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    onTestFinished(async () => {
      await this.admin.close()
      this.#server.close()
    })
    const at = this.#server.address()
    for (let count = 0; count < executors; count++) {
      const executor = createXxlJobExecutor({
        adminAddresses: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
        appName: 'billing',
        accessToken,
        port: 0,
        host: '127.0.0.1',
        logPath: join(temporaryFolder(), 'logs'),
        logger: false,
        scripts: ['GLUE_SHELL'],
        handlers: { invoices: (context) => this.#run(context) },
      })
      const registered = this.admin.events.next('executorRegistered')
      await executor.start()
      onTestFinished(() => executor.close({ timeoutMs: 0 }))
      await registered
    }
    const dump = temporaryFile('dump', JSON.stringify(tables))
    await sqliteJobStore({ filename: this.filename }).migrate()
    const imported = await runCli(
      ['xxl', 'import', dump, '--yes', '--zone', 'UTC', '--store', this.filename],
      {
        clock: systemClock,
      },
    )
    expect([imported.code, imported.err]).toEqual([0, ''])
    return this
  }

  async scheduler(options: Partial<XxlJobFromDataOptions> = {}): Promise<Scheduler> {
    const { admin, filename } = this
    const scheduler = await createScheduler({
      jobs: [xxlJobFromData('xxl-job', { admin, ...options })],
      jobStore: sqliteJobStore({ filename, history: { record: 'all' } }),
      threadPool: { size: 1 },
      logger: false,
    })
    onTestFinished(() => scheduler.shutdown())
    scheduler.events.on('allShardsDone', ({ firing }) => this.ended.push(firing))
    await scheduler.start()
    return scheduler
  }

  async #run(context: XxlJobContext): Promise<void> {
    this.seen.push(`${context.shard.index}/${context.shard.total} ${context.param}`)
    await this.gate
    if (this.failing-- > 0) context.handleFail('no paper')
    else context.handleSuccess(`${context.param} sent`)
  }
}

const keyOf = (id: number) => jobKey(String(id), 'billing')

describe('a job that says in its data what is sent', () => {
  test('executes as one of xxlJob does, also after a restart: it holds no slot, and is sent once', async () => {
    const shop = await new Shop().open(1)
    const gate = latch()
    shop.gate = gate.promise
    const first = await shop.scheduler()
    const sent = shop.admin.events.next('runSent')
    await first.triggerJob(keyOf(17))
    expect(await sent).toMatchObject({ appName: 'billing', jobId: 17 })
    await first.idle()
    expect(first.getCurrentlyExecutingJobs()).toEqual([])
    await first.shutdown()
    const second = await shop.scheduler()
    const ended = second.events.next('jobWasExecuted')
    gate.open()
    expect((await ended).context.result).toBe('May sent')
    await second.idle()
    expect(shop.seen).toEqual(['0/1 May'])
    expect((await second.queryExecutions()).items).toMatchObject([{ outcome: 'succeeded', shard: null }])
  })

  test('is a broadcast with a part for each executor, of which one that fails is repeated alone', async () => {
    const shop = await new Shop().open(2)
    shop.failing = 1
    const scheduler = await shop.scheduler()
    const stored = (await scheduler.getJobDetail(keyOf(18))) ?? expect.fail('it was imported')
    const { retry } = stored
    if (!retry) return expect.fail('it has retries')
    const soon = { ...retry, backoff: { ...retry.backoff, initialMs: 1, jitter: 0 } }
    await scheduler.addJob({ ...stored, retry: soon }, { replace: true })
    const done = scheduler.events.next('allShardsDone')
    await scheduler.triggerJob(keyOf(18))
    expect((await done).firing).toMatchObject({ outcome: 'succeeded', items: [{ item: 0 }, { item: 1 }] })
    expect(shop.seen).toHaveLength(3)
    expect(new Set(shop.seen)).toEqual(new Set(['0/2 May', '1/2 May']))
    expect(shop.ended).toHaveLength(1)
  })

  test('is stored as sharded by its data, and goes by its route again when they have changed', async () => {
    const shop = await new Shop().open(2)
    const scheduler = await shop.scheduler()
    const builder = JobBuilder.newJob('xxl-job').withIdentity('new').storeDurably()
    const data = { appName: 'billing', jobId: 20, handler: 'invoices' }
    await scheduler.addJob(builder.usingJobData({ ...data, route: 'SHARDING_BROADCAST' }).build())
    const stored = (await scheduler.getJobDetail(jobKey('new'))) ?? expect.fail('it was stored')
    expect(stored.sharding?.items).toBe('remote')
    await scheduler.addJob({ ...stored, jobDataMap: { ...data, route: 'LAST' } }, { replace: true })
    const sent = shop.admin.events.next('runSent')
    const done = scheduler.events.next('allShardsDone')
    await scheduler.triggerJob(jobKey('new'))
    const [group] = shop.admin.executors()
    expect((await sent).address).toBe(group?.executors.at(-1)?.address)
    await done
    expect(shop.seen).toEqual(['0/1 '])
    await scheduler.addJob(builder.usingJobData({ ...data, route: 'LAST' }).build(), { replace: true })
    expect((await scheduler.getJobDetail(jobKey('new')))?.sharding).toBeNull()
  })

  test('is a script where they say so, and fails where they make no sense', async () => {
    const shop = await new Shop().open(1)
    const scheduler = await shop.scheduler()
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.triggerJob(keyOf(19))
    expect((await ended).error).toBeNull()
    const wrong = scheduler.events.next('jobWasExecuted')
    await scheduler.triggerJob(keyOf(17), { route: 'SIDEWAYS' })
    expect((await wrong).error?.message).toContain("'route'")
    expect(shop.seen).toEqual([])
  })

  test('is on the page of executors, can be run from there, and counts in the report', async () => {
    const shop = await new Shop().open(1)
    const scheduler = await shop.scheduler()
    await using fixture = await serverFixture({ served: scheduler, xxlJob: shop.admin })
    const fields = { appName: 'billing', timeoutSeconds: 0, blockStrategy: 'SERIAL_EXECUTION' }
    const { json } = await fixture.ask('GET /xxl-job/jobs')
    expect(json).toMatchObject({
      types: [],
      jobs: [
        { name: '17', fromData: { ...fields, jobId: 17, handler: 'invoices', route: 'ROUND', glue: null } },
        { name: '18', fromData: { ...fields, jobId: 18, route: 'SHARDING_BROADCAST' } },
        { name: '19', fromData: { ...fields, jobId: 19, handler: '', glue: { type: 'GLUE_SHELL' } } },
      ],
    })
    const gate = latch()
    shop.gate = gate.promise
    const sent = shop.admin.events.next('runSent')
    const [group] = shop.admin.executors()
    const body = { param: 'June', address: group?.executors[0]?.address ?? '' }
    const ran = await fixture.ask('POST /xxl-job/jobs/billing/17/run', { body })
    expect(ran).toMatchObject({ status: 200 })
    await sent
    expect(await fixture.ask('GET /xxl-job/executors')).toMatchObject({
      json: { items: [{ appName: 'billing', running: 1 }] },
    })
    const elsewhere = { address: 'http://127.0.0.1:1/' }
    const refused = await fixture.ask('POST /xxl-job/jobs/billing/17/run', { body: elsewhere })
    expect(refused).toMatchObject({ status: 404 })
    const ended = scheduler.events.next('jobWasExecuted')
    gate.open()
    await ended
    await scheduler.idle()
    expect(shop.seen).toEqual(['0/1 June'])
    const { json: report } = await fixture.ask('GET /xxl-job/report?days=1')
    expect(report).toMatchObject({ items: [{ total: 1, succeeded: 1 }] })
  })

  test.each([
    ['admin', { admin: {} }],
    ['resultTimeoutMs', { resultTimeoutMs: 5 }],
    ['onTimeout', { onTimeout: 'again' }],
    ['handler', { handler: 'invoices' }],
  ])('refuses a wrong %s', (_, options) => {
    const admin = createXxlJobAdmin({ accessToken: null, logger: false })
    expect(() => xxlJobFromData('xxl-job', { admin, ...options } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    )
  })
})
