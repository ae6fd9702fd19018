import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createScheduler, JobBuilder, jobKey, type Scheduler } from '../../src/index.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { createXxlJobAdmin, createXxlJobExecutor, type XxlJobAdmin, xxlJob } from '../../src/xxl-job.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const accessToken = 'a-token-of-your-own'
const appName = 'billing-executor'

interface Node {
  readonly admin: XxlJobAdmin
  readonly scheduler: Scheduler
}

test('an executor that registers with one node runs what another node fires', async () => {
  const database = await freshDatabase()
  const clock = new ManualClock()
  const node = async (instanceId: string): Promise<Node> => {
    const admin = createXxlJobAdmin({ accessToken, clock, logger: false })
    const billing = xxlJob('billing', { admin, appName, jobId: 17, handler: 'invoices' })
    const { connectionString } = database
    const scheduler = await createScheduler({
      jobs: [billing],
      instanceId,
      jobStore: postgresJobStore({ connectionString, history: { record: 'all' } }),
      logger: false,
    })
    return { admin, scheduler }
  }
  const [one, other] = [await node('n1'), await node('n2')]
  const server = createServer((request, response) => {
    one.admin.listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = server.address()
  const executor = createXxlJobExecutor({
    adminAddresses: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    appName,
    accessToken,
    port: 0,
    host: '127.0.0.1',
    logPath: join(temporaryFolder(), 'logs'),
    logger: false,
    handlers: {
      invoices: (context) => {
        context.handleSuccess(`${context.param} sent`)
      },
    },
  })
  onTestFinished(async () => {
    await Promise.all([one, other].map(({ scheduler }) => scheduler.shutdown()))
    await executor.close()
    await Promise.all([one, other].map(({ admin }) => admin.close()))
    server.close()
    await database[Symbol.asyncDispose]()
  })
  const registered = one.admin.events.next('executorRegistered')
  await executor.start()
  const { address } = await registered
  const all = await waitForExecutor(other, clock)
  expect(all).toEqual([address])

  await other.scheduler.start()
  const key = jobKey('billing')
  await other.scheduler.addJob(JobBuilder.newJob('billing').withIdentity(key).storeDurably().build())
  const ended = other.scheduler.events.next('jobWasExecuted')
  const endedHere = one.scheduler.events.next('jobWasExecuted')
  await other.scheduler.triggerJob(key, { param: 'May' })
  // The result comes to the node that the executor knows.
  const { context } = await Promise.race([ended, endedHere])
  expect(context.result).toBe('May sent')
})

/** Time goes on until the admin knows an executor; what it reads takes a moment of its own. */
async function waitForExecutor({ admin, scheduler }: Node, clock: ManualClock): Promise<readonly string[]> {
  for (let seconds = 0; seconds < 80; seconds++) {
    await clock.advance(1000)
    const found = admin.executors().flatMap(({ executors }) => executors.map(({ address }) => address))
    if (found.length > 0) return found
    // Answered after what the admin asked before.
    await scheduler.getJobGroupNames()
  }
  return []
}
