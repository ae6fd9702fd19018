import {
  createScheduler,
  defineJob,
  GroupMatcher,
  JobBuilder,
  type Scheduler,
  TriggerBuilder,
} from 'quartz-ts'
import { type PostgresJobStoreOptions, postgresJobStore } from 'quartz-ts/postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Pooler, pgbouncerVersion, startPooler } from '../support/pgbouncer.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

const version = pgbouncerVersion ?? []
const withPooler = describe.skipIf(pgbouncerVersion === null) // reason: not every machine has one
const testWithPooler = test.skipIf(pgbouncerVersion === null) // reason: not every machine has one

withPooler('behind PgBouncer', () => {
  let database: TestDatabase
  let pooler: Pooler
  beforeAll(async () => {
    database = await freshDatabase()
    pooler = await startPooler(database.connectionString, version)
  })
  afterAll(async () => {
    await pooler[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  const ran: string[] = []
  const work = defineJob('work', ({ jobKey }) => {
    ran.push(jobKey.name)
  })

  async function node(instanceId: string, options: PostgresJobStoreOptions): Promise<Scheduler> {
    const { connectionString } = pooler
    const jobStore = postgresJobStore({ connectionString, listen: false, poolSize: 4, ...options })
    const scheduler = await createScheduler({
      logger: false,
      jobStore,
      instanceId,
      jobs: [work],
      idleWaitMs: 1000,
    })
    onTestFinished(() => scheduler.shutdown())
    return scheduler
  }

  test('in transaction mode two nodes share more jobs than it has connections', async () => {
    const options = { preparedStatements: false }
    const [one, two] = [await node('node-1', options), await node('node-2', options)]
    const errors: string[] = []
    for (const { events } of [one, two]) events.on('schedulerError', ({ message }) => errors.push(message))
    await Promise.all([one.start(), two.start()])
    const names = Array.from({ length: 60 }, (_, index) => `job-${index}`)
    const entries = names.map((name) => ({
      job: JobBuilder.newJob(work).withIdentity(name).build(),
      triggers: [TriggerBuilder.newTrigger().startNow().build()],
    }))
    await Promise.all(
      entries.map(({ job, triggers }, index) =>
        (index % 2 === 0 ? one : two).scheduleJob(job, triggers, { replace: false }),
      ),
    )
    await vi.waitFor(
      () => {
        expect(ran.length).toBeGreaterThanOrEqual(names.length)
      },
      { timeout: 60_000 },
    )
    expect(ran.toSorted()).toEqual(names.toSorted())
    const states = (await one.cluster.nodes()).map(({ state }) => state)
    expect(states).toEqual(['alive', 'alive'])
    expect(errors).toEqual([])
  })

  test('that does not follow prepared statements, an error says which option it needs', async () => {
    // Until two connections meet at one of the server's.
    const meet = async (): Promise<void> => {
      for (let round = 0; round < 50; round++) {
        const nodes = [await node('node-3', {}), await node('node-4', {})]
        await Promise.all(nodes.map((each) => each.getJobKeys(GroupMatcher.anyGroup())))
      }
    }
    await expect(meet()).rejects.toThrow('set preparedStatements to false')
  })
})

testWithPooler(
  'behind PgBouncer in statement mode an error says at once that no store can work there',
  async () => {
    await using database = await freshDatabase()
    await using statements = await startPooler(database.connectionString, version, 'statement')
    const { connectionString } = statements
    const work = defineJob('work', () => undefined)
    const openIn = (schema: string): Promise<Scheduler> => {
      const options = { connectionString, schema, preparedStatements: false, connectWaitMs: 60_000 }
      return createScheduler({ logger: false, jobStore: postgresJobStore(options), jobs: [work] })
    }
    const said = /statement pooling mode.* pool_mode = transaction/s
    await expect(openIn('public')).rejects.toThrow(said)
    // Where the tables are, the first change finds out.
    const maker = postgresJobStore({ connectionString: database.connectionString })
    await (await createScheduler({ logger: false, jobStore: maker })).shutdown()
    const scheduler = await openIn('public')
    onTestFinished(() => scheduler.shutdown())
    await expect(scheduler.pauseAll()).rejects.toThrow(said)
  },
)
