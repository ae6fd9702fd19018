import { expect, onTestFinished, test } from 'vitest'
import { createScheduler, defineJob, JobBuilder, jobKey, TriggerBuilder } from '../../src/index.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { latch } from '../support/latch.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

test('interrupt answers for what it has reached in this process while the store is away', async () => {
  const database = await freshDatabase()
  const proxy = await TcpProxy.startFor(database.connectionString)
  const begun = latch()
  const aborted = latch()
  const long = defineJob('long', async ({ signal }) => {
    begun.open()
    signal.addEventListener('abort', () => {
      aborted.open()
    })
    await aborted.promise
  })
  const scheduler = await createScheduler({
    jobs: [long],
    logger: false,
    jobStore: postgresJobStore({ connectionString: proxy.through(database.connectionString) }),
  })
  onTestFinished(async () => {
    await scheduler.shutdown()
    await proxy[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })
  const told: string[] = []
  scheduler.events.on('schedulerError', ({ message }) => told.push(message))
  await scheduler.start()
  await scheduler.scheduleJob(
    JobBuilder.newJob(long).withIdentity('long').build(),
    TriggerBuilder.newTrigger().build(),
  )
  await begun.promise
  proxy.refuse()
  expect(await scheduler.interrupt(jobKey('long'))).toBe(true)
  await aborted.promise
  expect(told).toContainEqual(expect.stringContaining('other nodes could not be asked'))
  await expect(scheduler.interrupt(jobKey('other'))).rejects.toMatchObject({
    code: 'ERR_DATABASE_UNAVAILABLE',
  })
  proxy.heal()
})
