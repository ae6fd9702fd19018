import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createScheduler, JobBuilder, jobKey, type Scheduler } from '../../src/index.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  type XxlJobAdmin,
  type XxlJobRoute,
  xxlJob,
} from '../../src/xxl-job.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const accessToken = 'a-token-of-your-own'
const appName = 'billing-executor'
const key = jobKey('billing')

interface Node {
  readonly admin: XxlJobAdmin
  readonly scheduler: Scheduler
}

/** Two nodes, and executors that know the first one alone; their addresses. */
async function shop(route: XxlJobRoute, executorCount: number) {
  const database = await freshDatabase()
  const clock = new ManualClock()
  const node = async (instanceId: string): Promise<Node> => {
    const admin = createXxlJobAdmin({ accessToken, clock, logger: false })
    const billing = xxlJob('billing', { admin, appName, jobId: 17, handler: 'invoices', route })
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
  const nodes = [one, other]
  const server = createServer((request, response) => {
    one.admin.listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = server.address()
  const executors = Array.from({ length: executorCount }, () =>
    createXxlJobExecutor({
      adminAddresses: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
      appName,
      accessToken,
      port: 0,
      host: '127.0.0.1',
      logPath: join(temporaryFolder(), 'logs'),
      logger: false,
      handlers: {
        invoices: (context) => {
          const { index, total } = context.shard
          context.handleSuccess(`${context.param} sent, ${index}/${total}`)
        },
      },
    }),
  )
  onTestFinished(async () => {
    await Promise.all(nodes.map(({ scheduler }) => scheduler.shutdown()))
    for (const executor of executors) await executor.close()
    await Promise.all(nodes.map(({ admin }) => admin.close()))
    server.close()
    await database[Symbol.asyncDispose]()
  })
  const addresses: string[] = []
  for (const executor of executors) {
    const registered = one.admin.events.next('executorRegistered')
    await executor.start()
    addresses.push((await registered).address)
  }
  expect(await waitForExecutors(other, clock, executorCount)).toEqual(addresses.sort())
  await other.scheduler.start()
  await other.scheduler.addJob(JobBuilder.newJob('billing').withIdentity(key).storeDurably().build())
  const joinAs = async (instanceId: string): Promise<Node> => {
    const joined = await node(instanceId)
    nodes.push(joined)
    return joined
  }
  return { one, other, addresses, join: joinAs, clock }
}

test('an executor that registers with one node runs what another node fires', async () => {
  const { one, other } = await shop('FIRST', 1)
  const ended = other.scheduler.events.next('jobWasExecuted')
  const endedHere = one.scheduler.events.next('jobWasExecuted')
  await other.scheduler.triggerJob(key, { param: 'May' })
  // The result comes to the node that the executor knows.
  const { context } = await Promise.race([ended, endedHere])
  expect(context.result).toBe('May sent, 0/1')
})

test('a broadcast has a part for each executor, also of those that registered with another node', async () => {
  const { one, other } = await shop('SHARDING_BROADCAST', 3)
  const results: unknown[] = []
  for (const { scheduler } of [one, other]) {
    scheduler.events.on('jobWasExecuted', ({ context }) => results.push(context.result))
  }
  const ends = [one, other].map(({ scheduler }) => scheduler.events.next('allShardsDone'))
  await other.scheduler.triggerJob(key, { param: 'May' })
  const { firing } = await Promise.race(ends)
  expect(firing.items.map(({ owner, outcome }) => `${owner} ${outcome}`)).toEqual(
    Array.from({ length: 3 }, () => 'n2 succeeded'),
  )
  // The listeners of an item hear of its end after that is committed.
  const all = ['May sent, 0/3', 'May sent, 1/3', 'May sent, 2/3']
  await vi.waitFor(
    () => {
      expect(results.toSorted()).toEqual(all)
    },
    { timeout: 30_000 },
  )
  const line = await one.scheduler.getExecution(firing.fireInstanceId)
  expect(line).toMatchObject({ outcome: 'succeeded', node: 'n2', shard: null })
})

// Each node fires half, in numbers by which sequences of their own would not fit together.
test.each([
  { route: 'ROUND', runs: [7, 8, 8, 7], each: 10 },
  { route: 'LEAST_RECENTLY_USED', runs: [2, 4, 4, 2], each: 4 },
  { route: 'LEAST_FREQUENTLY_USED', runs: [2, 4, 4, 2], each: 4 },
] as const)('$route is one sequence of turns, whichever node fires', async ({ route, runs, each }) => {
  const { one, other, addresses, clock } = await shop(route, 3)
  const nodes = [other, one]
  await other.scheduler.standby()
  const sent: string[] = []
  for (const { admin } of nodes) admin.events.on('runSent', ({ address }) => sent.push(address))
  for (const [turn, count] of runs.entries()) {
    const { scheduler } = nodes[turn % 2] ?? other
    await scheduler.start()
    for (let run = 0; run < count; run++) {
      const ends = nodes.map((node) => node.scheduler.events.next('jobWasExecuted'))
      await scheduler.triggerJob(key, { param: 'May' })
      await Promise.race(ends)
      // A node that fires seldom makes no turns ahead.
      await clock.advance(1000)
    }
    await scheduler.standby()
  }
  const counts = addresses.map((address) => sent.filter((one) => one === address).length)
  if (route === 'LEAST_FREQUENTLY_USED') {
    // The first counts are random, below the number of executors, and the last round may not be whole.
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(3)
    expect(sent).toHaveLength(3 * each)
  } else {
    expect(counts).toEqual([each, each, each])
    expect(sent.slice(3)).toEqual(sent.slice(0, -3))
  }
})

test('a node that starts knows the executors before it reads notes again', async () => {
  const { addresses, join, clock } = await shop('SHARDING_BROADCAST', 2)
  // It reads them every 10 seconds.
  expect(await waitForExecutors(await join('n3'), clock, 2, 9)).toEqual(addresses)
})

/** Time goes on until the admin knows so many executors; what it reads takes a moment of its own. */
async function waitForExecutors(
  { admin, scheduler }: Node,
  clock: ManualClock,
  count: number,
  secondsMax = 80,
): Promise<readonly string[]> {
  const found = (): string[] =>
    admin.executors().flatMap(({ executors }) => executors.map(({ address }) => address))
  for (let seconds = 0; seconds < secondsMax; seconds++) {
    await clock.advance(1000)
    if (found().length >= count) return found()
    // Answered after what the admin asked before, unless the machine is busy.
    await scheduler.getJobGroupNames()
  }
  await vi.waitFor(
    () => {
      expect(found().length).toBeGreaterThanOrEqual(count)
    },
    { timeout: 30_000, interval: 20 },
  )
  return found()
}
