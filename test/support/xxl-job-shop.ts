import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  type XxlJobAdmin,
  type XxlJobContext,
  xxlJob,
} from '../../src/xxl-job.ts'

const accessToken = 'a-token-of-your-own'

/** Linux gives no server a port above 60,999 by itself, so no other test listens there. */
const gone = 'http://127.0.0.1:61999/'

/** An admin and an executor that has registered with it over HTTP, and a scheduler whose jobs it runs. */
export interface XxlJobShop extends AsyncDisposable {
  readonly admin: XxlJobAdmin
  readonly scheduler: Scheduler
  /** Of the executor. */
  readonly address: string
  /** Where an executor was entered by hand, and none is. */
  readonly gone: string
  /** Lets the handler `slow` end. */
  readonly release: () => void
}

/** The jobs `reports/invoices`, `reports/slow` and `mail/script`. */
export async function xxlJobShop(
  jobStore: JobStore = sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }),
): Promise<XxlJobShop> {
  const admin = createXxlJobAdmin({ accessToken, logger: false, executors: { 'mail-executor': [gone] } })
  const server = createServer((request, response) => {
    admin.listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = server.address()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const logPath = mkdtempSync(join(tmpdir(), 'quartz-ts-xxl-job-'))
  const executor = createXxlJobExecutor({
    adminAddresses: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    appName: 'billing-executor',
    accessToken,
    port: 0,
    host: '127.0.0.1',
    logPath,
    logger: false,
    handlers: {
      invoices: (context: XxlJobContext) => {
        context.log(`invoices of ${context.param}`)
        if (context.param === 'bad') context.handleFail('no money')
        else context.handleSuccess(`${context.param} sent`)
      },
      slow: async (context: XxlJobContext) => {
        context.log('it began')
        await released
        context.log('it was released')
      },
    },
  })
  const registered = admin.events.next('executorRegistered')
  await executor.start()
  const { address } = await registered
  const scheduler = await schedulerOf(admin, jobStore)
  return {
    admin,
    scheduler,
    address,
    gone,
    release,
    async [Symbol.asyncDispose]() {
      release()
      await scheduler.shutdown()
      await executor.close()
      await admin.close()
      server.close()
      rmSync(logPath, { recursive: true, force: true })
    },
  }
}

async function schedulerOf(admin: XxlJobAdmin, jobStore: JobStore): Promise<Scheduler> {
  const of = { admin, appName: 'billing-executor' }
  const source = 'echo "<b>done</b>"\n'
  const scheduler = await createScheduler({
    jobs: [
      xxlJob('invoices', { ...of, jobId: 17, handler: 'invoices', route: 'FAILOVER' }),
      xxlJob('slow', { ...of, jobId: 18, handler: 'slow' }),
      xxlJob('script', {
        admin,
        appName: 'mail-executor',
        jobId: 19,
        glue: { type: 'GLUE_SHELL', source, updated: Date.UTC(2026, 0, 1) },
      }),
    ],
    jobStore,
    logger: false,
  })
  for (const [type, group] of [
    ['invoices', 'reports'],
    ['slow', 'reports'],
    ['script', 'mail'],
  ] as const) {
    const job = JobBuilder.newJob(type).withIdentity(type, group).storeDurably()
    await scheduler.addJob(job.usingJobData({ param: 'May' }).build())
  }
  await scheduler.start()
  return scheduler
}
