import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createScheduler, JobBuilder, jobKey, type Scheduler, TriggerBuilder } from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'
import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  type XxlJobAdmin,
  type XxlJobExecutorOptions,
  type XxlJobHandler,
  type XxlJobOptions,
  xxlJob,
} from '../../src/xxl-job.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const accessToken = 'a-token-of-your-own'
const appName = 'billing-executor'
const theJob = jobKey('billing')

/** An admin behind a port. What comes to the port goes to the admin that is there at the time. */
class Doorway {
  admin: XxlJobAdmin = this.#newAdmin()
  readonly server = createServer((request, response) => {
    this.admin.listener(request, response)
  })

  async open(): Promise<number> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    onTestFinished(async () => {
      await this.admin.close()
      this.server.close()
    })
    const address = this.server.address()
    return address !== null && typeof address === 'object' ? address.port : expect.fail('it listens')
  }

  /** As after a restart: with nothing in memory. */
  async renew(): Promise<void> {
    await this.admin.close()
    this.admin = this.#newAdmin()
  }

  #newAdmin(): XxlJobAdmin {
    return createXxlJobAdmin({ accessToken, logger: false })
  }
}

interface Rig {
  readonly doorway: Doorway
  readonly filename: string
  readonly open: (options?: Partial<XxlJobOptions<{ param?: string }>>) => Promise<Scheduler>
}

async function rig(
  handlers: Record<string, XxlJobHandler>,
  executorOptions: Pick<XxlJobExecutorOptions, 'clock' | 'scripts'> = {},
): Promise<Rig> {
  const doorway = new Doorway()
  const port = await doorway.open()
  const executor = createXxlJobExecutor({
    adminAddresses: `http://127.0.0.1:${port}`,
    appName,
    accessToken,
    port: 0,
    host: '127.0.0.1',
    logPath: join(temporaryFolder(), 'logs'),
    logger: false,
    handlers,
    ...executorOptions,
  })
  const registered = doorway.admin.events.next('executorRegistered')
  await executor.start()
  onTestFinished(() => executor.close())
  await registered
  const filename = join(temporaryFolder(), 'jobs.db')
  return {
    doorway,
    filename,
    async open(options = {}) {
      const { admin } = doorway
      const billing = xxlJob('billing', { admin, appName, jobId: 17, handler: 'invoices', ...options })
      const scheduler = await createScheduler({
        jobs: [billing],
        jobStore: sqliteJobStore({ filename, history: { record: 'all' } }),
        threadPool: { size: 1 },
        logger: false,
      })
      onTestFinished(() => scheduler.shutdown())
      await scheduler.start()
      return scheduler
    },
  }
}

async function fire(scheduler: Scheduler, param: string): Promise<void> {
  const job = JobBuilder.newJob('billing').withIdentity(theJob).storeDurably().usingJobData({ param }).build()
  await scheduler.scheduleJob(job, TriggerBuilder.newTrigger().withIdentity('now').build())
}

/** Where the last run went, as its execution logged it. */
async function placeOfRun(scheduler: Scheduler): Promise<{ logDateTimeMs: number }> {
  const { items } = await scheduler.queryExecutions()
  const log = await scheduler.queryExecutionLog(items[0]?.fireInstanceId ?? '')
  return (JSON.parse(log.items[0]?.fieldsText ?? '') as { xxlJob: { logDateTimeMs: number } }).xxlJob
}

const outcomes = async (scheduler: Scheduler) =>
  (await scheduler.queryExecutions()).items.map(({ outcome }) => outcome)

describe('a job that executors of XXL-JOB run', () => {
  test('executes until its result is reported, without a slot of the pool', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const { open, doorway } = await rig({
      invoices: async (context) => {
        await released
        context.handleSuccess(`${context.param} sent`)
      },
    })
    const scheduler = await open()
    const sent = doorway.admin.events.next('runSent')
    await fire(scheduler, 'May')
    await sent
    await scheduler.idle()
    expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
    const ended = scheduler.events.next('jobWasExecuted')
    release()
    expect((await ended).context.result).toBe('May sent')
  })

  test('has failed when the executor says so, or does not know its handler', async () => {
    const { open } = await rig({
      invoices: (context) => {
        context.handleFail('no money')
      },
    })
    const scheduler = await open()
    const ended = scheduler.events.next('jobWasExecuted')
    await fire(scheduler, 'May')
    expect((await ended).error?.message).toContain('no money')
    await scheduler.shutdown()
    const unknown = await open({ handler: 'unheard-of' })
    const refused = unknown.events.next('jobWasExecuted')
    await unknown.triggerJob(theJob)
    expect((await refused).error?.code).toBe('ERR_XXL_JOB_RUN')
    await unknown.idle()
    expect(await outcomes(unknown)).toEqual(['failed', 'failed'])
  })

  test('has timed out when it took longer than its timeout, although its handler goes on', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let begin = (): void => {}
    const began = new Promise<void>((resolve) => {
      begin = resolve
    })
    const clock = new ManualClock()
    const invoices = async (): Promise<void> => {
      begin()
      await released
    }
    const { open } = await rig({ invoices }, { clock })
    const scheduler = await open({ timeoutSeconds: 1 })
    const ended = scheduler.events.next('jobWasExecuted')
    await fire(scheduler, 'May')
    await began
    await clock.advance(999)
    await scheduler.idle()
    expect(await outcomes(scheduler)).toEqual([])
    await clock.advance(1)
    const { error } = await ended
    expect([error?.code, error?.message]).toEqual(['ERR_JOB_TIMEOUT', expect.stringContaining('502')])
    await scheduler.idle()
    expect(await outcomes(scheduler)).toEqual(['timedOut'])
    release()
  })

  test('has in its log the result that comes after its deadline', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const { open } = await rig({
      invoices: async (context) => {
        await released
        context.handleSuccess('all sent')
      },
    })
    const scheduler = await open({ resultTimeoutMs: 1000 })
    const ended = scheduler.events.next('jobWasExecuted')
    await fire(scheduler, 'May')
    expect((await ended).error?.code).toBe('ERR_JOB_TIMEOUT')
    await scheduler.idle()
    const late = scheduler.events.next('resultLate')
    release()
    const { fireInstanceId } = await late
    await scheduler.idle()
    const { items } = await scheduler.queryExecutionLog(fireInstanceId ?? '')
    expect(items.map(({ message }) => message)).toEqual([
      expect.stringContaining('sent to the executor at'),
      'A late result came, after the deadline: it ended well',
    ])
    expect(items[1]?.fieldsText).toContain('all sent')
    expect(await outcomes(scheduler)).toEqual(['timedOut'])
  })

  test('is not sent when its time was over before, as after the process stood still', async () => {
    const paths: unknown[] = []
    const server = createServer(({ url }, response) => {
      paths.push(url)
      response.end('{"code":200}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const clock = new ManualClock()
    const admin = createXxlJobAdmin({
      accessToken,
      executors: { [appName]: [address] },
      clock,
      logger: false,
    })
    onTestFinished(async () => {
      await admin.close()
      server.close()
    })
    const billing = xxlJob('billing', {
      admin,
      appName,
      jobId: 17,
      handler: 'invoices',
      resultTimeoutMs: 1000,
    })
    await using scheduler = await createScheduler({ jobs: [billing], logger: false })
    admin.events.on('runSent', () => {
      clock.jump(1000)
    })
    const ended = scheduler.events.next('jobWasExecuted')
    await fire(scheduler, 'May')
    await scheduler.start()
    expect((await ended).error?.message).toContain('its time was over before it was sent')
    expect(paths).toEqual([])
  })

  test('is a script that the executor gets with the run', async () => {
    const { open, doorway } = await rig({}, { scripts: ['GLUE_SHELL'] })
    const updated = new Date('2026-01-01T00:00:00Z')
    const source = 'echo "$1, part $2 of $3"\nexit "$(echo "$1" | grep -c bad)"\n'
    const scheduler = await open({ handler: '', glue: { type: 'GLUE_SHELL', source, updated } })
    const ended = scheduler.events.next('jobWasExecuted')
    const sent = doorway.admin.events.next('runSent')
    await fire(scheduler, 'May')
    expect((await ended).error).toBeNull()
    await scheduler.idle()
    const { appName: at, address, logId } = await sent
    const { logDateTimeMs } = await placeOfRun(scheduler)
    const page = { appName: at, address, logId, logDateTime: new Date(logDateTimeMs) }
    expect((await doorway.admin.readLog(page)).logContent).toContain('\nMay, part 0 of 1\n')
    const failed = scheduler.events.next('jobWasExecuted')
    await scheduler.triggerJob(theJob, { param: 'bad' })
    expect((await failed).error?.message).toContain('script exit value(1) is failed')
    await scheduler.idle()
    expect((await outcomes(scheduler)).toSorted()).toEqual(['failed', 'succeeded'])
  })

  test('is not sent again after a restart: its result is taken by the next process', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let runs = 0
    const { open, doorway } = await rig({
      invoices: async (context) => {
        runs++
        await released
        context.handleSuccess('done')
      },
    })
    const first = await open()
    const sent = doorway.admin.events.next('runSent')
    await fire(first, 'May')
    await sent
    await first.idle()
    await first.shutdown()
    await doorway.renew()
    const second = await open()
    const ended = second.events.next('jobWasExecuted')
    release()
    expect((await ended).context.result).toBe('done')
    await second.idle()
    expect([runs, await outcomes(second)]).toEqual([1, ['succeeded']])
  })

  test.each([
    ['', false],
    [', also of the next process, before the executor has beaten there', true],
  ])('is killed by an interrupt%s', async (_, isRestarted) => {
    let kill = (): void => {}
    const killed = new Promise<void>((resolve) => {
      kill = resolve
    })
    const { open, doorway } = await rig({
      invoices: async ({ signal }) => {
        await once(signal, 'abort')
        kill()
      },
    })
    let scheduler = await open()
    const sent = doorway.admin.events.next('runSent')
    await fire(scheduler, 'May')
    await sent
    await scheduler.idle()
    if (isRestarted) {
      await scheduler.shutdown()
      await doorway.renew()
      scheduler = await open()
    }
    expect(await scheduler.interrupt(theJob)).toBe(true)
    await killed
    expect(await outcomes(scheduler)).toEqual(['interrupted'])
  })

  test.each([
    ['admin', { admin: {} }],
    ['route', { route: 'EVERYWHERE' }],
    ['disallowConcurrentExecution', { route: 'SHARDING_BROADCAST', disallowConcurrentExecution: true }],
    ['jobId', { jobId: 0 }],
    ['onTimeout', { onTimeout: 'again' }],
    ['param', { param: 'May' }],
    ['shard', { shard: { index: 0, total: 1 } }],
  ])('refuses a wrong %s', (_, options) => {
    const admin = createXxlJobAdmin({ accessToken: null, logger: false })
    const right = { admin, appName, jobId: 17, handler: 'invoices' }
    expect(() => xxlJob('billing', { ...right, ...options } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    )
  })
})
