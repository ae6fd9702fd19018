import { createScheduler, type Logger } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase, testPool } from '../support/postgres-database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

/** A logger, and a promise of the first warning that a server is waited for. */
function warned(): { readonly logger: Logger; readonly waits: Promise<void>; readonly warnings: string[] } {
  const warnings: string[] = []
  let wait: () => void = () => {}
  const waits = new Promise<void>((resolve) => {
    wait = resolve
  })
  const warn = (_fields: object, message: string): void => {
    if (!message.includes('createScheduler waits')) return
    warnings.push(message)
    wait()
  }
  const ignore = (): void => {}
  return { logger: { debug: ignore, info: ignore, warn, error: ignore }, waits, warnings }
}

describe('a server that is away when a scheduler is made', () => {
  test('is an error that names the option which waits', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    proxy.refuse()
    const jobStore = postgresJobStore({ connectionString: proxy.through(database.connectionString) })
    const made = createScheduler({ jobStore, logger: false })
    await expect(made).rejects.toMatchObject({
      code: 'ERR_DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/^PostgreSQL cannot be used: .*connectWaitMs/) as string,
    })
    await expect(made).rejects.not.toThrow('tries again')
  })

  test.each([0, 200])(
    'that has no connection left says so, also when waited for %i ms',
    async (connectWaitMs) => {
      await database.query('CREATE ROLE full_role LOGIN PASSWORD $$quartz$$ CONNECTION LIMIT 0')
      onTestFinished(async () => {
        await database.query('DROP ROLE full_role')
      })
      const url = new URL(database.connectionString)
      url.username = 'full_role'
      url.password = 'quartz'
      const jobStore = postgresJobStore({ connectionString: url.href, connectWaitMs })
      const made = createScheduler({ jobStore, logger: false })
      await expect(made).rejects.toThrow('It is the limit of this role: lower poolSize or raise ALTER ROLE')
      await expect(made).rejects.not.toThrow('can be reached')
    },
  )

  test('is waited for, with one warning', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    proxy.refuse()
    const connectionString = proxy.through(database.connectionString)
    const { logger, waits, warnings } = warned()
    const jobStore = postgresJobStore({ connectionString, connectWaitMs: 60_000 })
    const made = createScheduler({ jobStore, logger })
    await waits
    proxy.heal()
    await using scheduler = await made
    expect(await scheduler.getJobGroupNames()).toEqual([])
    expect(warnings).toHaveLength(1)
  })

  test('is given up when the wait is over', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    proxy.refuse()
    const connectionString = proxy.through(database.connectionString)
    const jobStore = postgresJobStore({ connectionString, connectWaitMs: 1 })
    await expect(createScheduler({ jobStore, logger: false })).rejects.toThrow('connectWaitMs (1)')
  })

  test('is given up when the wait is over, also in the middle of an attempt', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    proxy.blackHole()
    const connectionString = proxy.through(database.connectionString)
    const jobStore = postgresJobStore({ connectionString, connectWaitMs: 1500, connectTimeoutMs: 60_000 })
    const startedMs = performance.now()
    await expect(createScheduler({ jobStore, logger: false })).rejects.toMatchObject({
      code: 'ERR_DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/the server does not answer.*connectWaitMs \(1500\)/) as string,
    })
    expect(performance.now() - startedMs).toBeLessThan(15_000)
  })

  test('is not waited for when it is there and refuses', async () => {
    const url = new URL(database.connectionString)
    url.pathname = '/not-there'
    const { logger, warnings } = warned()
    const jobStore = postgresJobStore({ connectionString: url.href, connectWaitMs: 3_600_000 })
    await expect(createScheduler({ jobStore, logger })).rejects.toThrow('Create the database')
    expect(warnings).toEqual([])
  })
})

test('a connection of the pool that does not answer keeps no scheduler from being made', async () => {
  await using proxy = await TcpProxy.startFor(database.connectionString)
  const pool = testPool({ connectionString: proxy.through(database.connectionString) })
  onTestFinished(() => pool.end())
  await pool.query('SELECT 1')
  proxy.dropReplies()
  const jobStore = postgresJobStore({ pool, statementTimeoutMs: 1000, listen: false })
  await using scheduler = await createScheduler({ jobStore, logger: false })
  expect(pool.totalCount).toBe(1)
  expect(await scheduler.getJobGroupNames()).toEqual([])
})

test('check-ins that are made without a thread are seen without a logger', async () => {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'error').mockImplementation((line: string) => {
    lines.push(line)
  })
  onTestFinished(() => {
    spy.mockRestore()
  })
  const jobStore = postgresJobStore({ connectionString: database.connectionString })
  await using scheduler = await createScheduler({ jobStore })
  // The sources have no file for the thread; only a built package has.
  await scheduler.start()
  expect(lines).toEqual([
    expect.stringMatching(
      / WARN quartz-ts: check-ins are made on the event loop: .* - The entry is TypeScript/,
    ),
  ])
})
