import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../../src/index.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { builtEntry, orders, rig } from '../support/check-in-rig.ts'
import { latch } from '../support/latch.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { SteeredEntry } from '../support/steered-entry.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const patienceMs = 60_000

let server: PostgresServer
let database: TestDatabase
beforeAll(async () => {
  server = await startPostgres()
  database = await freshDatabase(server.connectionString)
})
afterAll(async () => {
  await server.remove()
})

/** A rig that counts who checked in, and that does not wait long for a thread in trouble. */
function countingRig(...[config, entry, options]: Parameters<typeof rig>): ReturnType<typeof rig> & {
  readonly byStore: () => number
  readonly byThread: () => number
} {
  const made = rig(config, entry, { answerWithinMs: 500, ...options })
  const { checkIns } = made.seen
  const byStore = (): number => checkIns.filter(({ bootId }) => bootId === 'of the store').length
  return { ...made, byStore, byThread: () => checkIns.length - byStore() }
}

/** Waits until a count has grown by so much. */
async function grown(count: () => number, by: number): Promise<void> {
  const before = count()
  await vi.waitUntil(() => count() >= before + by, { timeout: patienceMs })
}

describe('the event loop checks in', () => {
  test('from the entry until the thread has booted, and again when that one ends, until the next has', async () => {
    const { connectionString } = server
    const entry = await SteeredEntry.make()
    const { driver, observer, seen, stoodIn, back, byStore, byThread } = countingRig(
      { connectionString },
      entry.url,
    )
    driver.start(observer, orders('of the thread'))
    await grown(byStore, 3)
    expect(stoodIn).toMatchObject([{ message: 'The thread has not begun to check in yet.' }])
    expect(seen.failures).toEqual([])
    const first = await entry.thread(1)
    first.boot()
    await grown(byThread, 3)
    const before = byStore()
    await grown(byThread, 20)
    expect(byStore()).toBe(before)
    expect(back.count).toBe(1)
    first.die()
    const second = await entry.thread(2)
    await grown(byStore, 3)
    expect(stoodIn).toMatchObject([{}, { message: 'The thread ended with code 1.' }])
    second.boot()
    await grown(byThread, 3)
    expect(back.count).toBe(2)
    expect(stoodIn).toHaveLength(2)
  })

  test('for a thread that hangs without a word', async () => {
    const { connectionString } = server
    const entry = await SteeredEntry.make()
    const { driver, observer, seen, stoodIn, byStore, byThread } = countingRig(
      { connectionString },
      entry.url,
      { silentAfterMs: 1000 },
    )
    driver.start(observer, orders('of the thread'))
    const thread = await entry.thread(1)
    thread.boot()
    await grown(byThread, 1)
    thread.hang()
    await grown(byStore, 3)
    expect(stoodIn.at(-1)).toMatchObject({ message: 'The thread has said nothing for 1000 ms.' })
    expect(seen.failures).toEqual([])
  })

  test('for a thread that cannot connect at the start, until it can', async () => {
    await using proxy = await TcpProxy.startFor(server.connectionString)
    proxy.refuse()
    const connectionString = proxy.through(server.connectionString)
    const { driver, observer, stoodIn, back, byStore, byThread } = countingRig({ connectionString })
    driver.start(observer, orders('of the thread'))
    await grown(byStore, 3)
    proxy.heal()
    await grown(byThread, 3)
    expect(stoodIn).toHaveLength(1)
    expect(back.count).toBe(1)
  })

  test('for a thread that cannot connect again, until it can', async () => {
    await using proxy = await TcpProxy.startFor(server.connectionString)
    const connectionString = proxy.through(server.connectionString)
    const { driver, observer, seen, stoodIn, back, byStore, byThread } = countingRig({ connectionString })
    driver.start(observer, orders('of the thread'))
    await grown(byThread, 1)
    const [stoodInBefore, backBefore] = [stoodIn.length, back.count]
    proxy.refuse()
    await grown(byStore, 2)
    const failures = seen.failures.length
    await grown(byStore, 3)
    // The node checks in, so nothing has failed.
    expect(seen.failures).toHaveLength(failures)
    expect(stoodIn).toHaveLength(stoodInBefore + 1)
    proxy.heal()
    await grown(byThread, 3)
    expect(back.count).toBe(backBefore + 1)
  })

  test.each([
    ['cannot be made', new URL('http://127.0.0.1/entry.js')],
    ['has no module', new URL('file:///no/such/entry.js')],
  ])('for a thread that %s, and at once when it is hurried, by the newest orders', async (_what, entry) => {
    const asked: string[] = []
    const { driver, observer, seen, stoodIn, byStore } = countingRig({}, entry, {
      checkInOfStore: ({ bootId }) => {
        asked.push(bootId)
        return Promise.resolve({
          ...{ bootId: 'of the store', isOurs: true, rows: [], witness: 'none' },
          ...{ sentMs: 0, lookedMs: 0, lookTookMs: 0 },
        })
      },
    })
    driver.start(observer, { ...orders('first'), intervalMs: 3_600_000 })
    await grown(byStore, 1)
    expect(seen.failures[0]).toMatchObject({
      code: 'ERR_JOB_PERSISTENCE',
      message: 'The thread that checks in died; another one is started.',
    })
    driver.order(orders('second'))
    driver.hurry()
    await grown(byStore, 1)
    expect(asked.slice(0, 2)).toEqual(['first', 'second'])
    expect(stoodIn).toHaveLength(1)
    await driver.stop()
    const before = asked.length
    driver.hurry()
    expect(asked).toHaveLength(before)
  })

  test('not after it was blocked while the thread checked in', async () => {
    const { driver, observer, seen, byThread } = countingRig(
      { connectionString: server.connectionString },
      builtEntry,
      {
        ...{ answerWithinMs: patienceMs, silentAfterMs: 1500 },
        checkInOfStore: () => expect.fail('the thread was there'),
      },
    )
    driver.start(observer, orders('of the thread'))
    await grown(byThread, 1)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)
    await grown(byThread, 20)
    expect(seen.failures).toEqual([])
  })
})

test('a check-in on a connection that broke between two tells why there is no other', async () => {
  await using proxy = await TcpProxy.startFor(server.connectionString)
  const connectionString = proxy.through(server.connectionString)
  const away = new Error('away')
  const { driver, observer, seen, stoodIn, byThread } = countingRig({ connectionString }, builtEntry, {
    checkInOfStore: () => Promise.reject(away),
  })
  driver.start(observer, { ...orders('of the thread'), intervalMs: 300 })
  const told = (): number => stoodIn.length + seen.failures.length
  for (let round = 0; round < 5; round++) {
    await grown(byThread, 1)
    proxy.refuse()
    await grown(told, 1)
    proxy.heal()
  }
  const problems = [...stoodIn, ...seen.failures].map(String)
  expect(problems.join()).toMatch(/ECONNRESET|ECONNREFUSED|terminated/)
  expect(problems.join()).not.toContain('not queryable')
})

test('a node whose thread boots late, and is replaced late, is not recovered, and no job runs twice', async () => {
  const { connectionString } = database
  const times = { checkInIntervalMs: 500, failedAfterMs: 3000 }
  const run = latch()
  let runs = 0
  const long = defineJob('long', async () => {
    runs++
    await run.promise
  })
  const log: string[] = []
  const note = (_fields: object, message: string): void => {
    log.push(message)
  }
  const entry = await SteeredEntry.make()
  const peer = await createScheduler({
    ...{ schedulerName: 'late', instanceId: 'peer', jobs: [long], logger: false },
    jobStore: postgresJobStore({ connectionString, ...times }),
  })
  onTestFinished(() => peer.shutdown())
  const failed: string[] = []
  peer.events.on('nodeFailed', ({ node: id }) => failed.push(id))
  const node = await createScheduler({
    ...{ schedulerName: 'late', instanceId: 'node', jobs: [long] },
    logger: { debug() {}, info: note, warn: note, error: note },
    jobStore: postgresJobStore({ connectionString, checkInEntry: entry.url, ...times }),
  })
  onTestFinished(async () => {
    run.open()
    await node.shutdown({ waitForJobsToComplete: true })
  })
  /** Waits until the node has gone on checking in for twice the time after which it has failed, or has failed. */
  const goesOn = async (): Promise<void> => {
    const lastMs = async (): Promise<number> => {
      const [row] = await database.query(
        "SELECT last_checkin_time AS ms FROM qrtz_scheduler_state WHERE instance_name = 'node'",
      )
      return Number(row?.['ms'] ?? Number.NaN)
    }
    const untilMs = (await lastMs()) + 2 * times.failedAfterMs
    await vi.waitUntil(async () => failed.length > 0 || (await lastMs()) >= untilMs, {
      ...{ timeout: patienceMs, interval: 100 },
    })
    expect(failed).toEqual([])
  }
  const began = node.events.next('jobToBeExecuted')
  await node.start()
  await node.scheduleJob(
    JobBuilder.newJob(long).requestRecovery().build(),
    TriggerBuilder.newTrigger().startNow().build(),
  )
  await began
  await peer.start()
  await goesOn()
  const thread = await entry.thread(1)
  thread.boot()
  const back = 'the thread of the check-ins checks in again'
  await vi.waitUntil(() => log.includes(back), { timeout: patienceMs })
  thread.die()
  await entry.thread(2)
  await goesOn()
  expect(runs).toBe(1)
  expect(log.filter((message) => message.includes('thread of the check-ins'))).toEqual([
    expect.stringContaining('until it does, the event loop checks in'),
    back,
    expect.stringContaining('until it does, the event loop checks in'),
  ])
})
