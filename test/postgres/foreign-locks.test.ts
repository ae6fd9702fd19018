import pg from 'pg'
import {
  createScheduler,
  defineJob,
  GroupMatcher,
  JobBuilder,
  JobKey,
  type Scheduler,
  SimpleScheduleBuilder,
  type Trigger,
  TriggerBuilder,
} from 'quartz-ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Runs } from '../support/runs-of-job.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

const tickMs = 100
const heldMs = 300
/**
 * On a machine with much else to do; without the locks it is as long. What waited for a lock paused for 15 seconds. How
 * late a run is says less: where the machine cannot keep up with the ticks, each is later than the one before it.
 */
const longestPauseMs = 5000

const every = (name: string, ms: number, startMs = Date.now()): Trigger =>
  TriggerBuilder.newTrigger()
    .withIdentity(name)
    .startAt(new Date(startMs))
    .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(ms).repeatForever())
    .build()

interface Scene {
  readonly scheduler: Scheduler
  readonly schema: string
  /** Of jobs that have nothing to do with what is locked. */
  readonly ticks: readonly Runs[]
  readonly held: Runs
  /** Job `held` ends when this is opened. */
  readonly openGate: () => void
  readonly query: (text: string) => Promise<readonly Record<string, unknown>[]>
  /** A connection that is in a transaction of its own, whose end is the end of the test at the latest. */
  readonly begin: () => Promise<pg.Client>
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(stores.connection())
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Without time limits: what waits for a lock waits for as long as the test holds it. */
async function openScene({ poolSize = 6 } = {}): Promise<Scene> {
  const newStore = await stores.prepare()
  const jobStore = newStore({
    poolSize,
    lockTimeoutMs: 0,
    statementTimeoutMs: 0,
    lockWaitWarningMs: 200,
    checkInIntervalMs: 300,
  })
  const ticks = [new Runs(), new Runs()]
  const held = new Runs()
  let openGate = (): void => {}
  const gate = new Promise<void>((resolve) => {
    openGate = resolve
  })
  const scheduler = await createScheduler({
    jobStore,
    jobs: [
      defineJob('tick', ({ scheduledFireTime, jobKey }) => {
        ticks[Number(jobKey.name)]?.note(scheduledFireTime.getTime())
      }),
      defineJob('held', async (context) => {
        held.note(context.scheduledFireTime.getTime())
        context.jobDataMap['runs'] = held.planned.length
        await gate
      }),
    ],
  })
  onTestFinished(() => {
    openGate()
    return scheduler.shutdown()
  })
  const looking = await connect()
  const [row] = (
    await looking.query<{ schema: string }>(
      `SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'qrtz_triggers'
     ORDER BY CAST(substr(schemaname, 2) AS integer) DESC`,
    )
  ).rows
  const schema = row?.schema ?? ''
  await looking.query(`SET search_path = ${schema}`)
  return {
    scheduler,
    schema,
    ticks,
    held,
    openGate,
    query: async (text) => (await looking.query<Record<string, unknown>>(text)).rows,
    begin: async () => {
      const client = await connect()
      await client.query(`SET search_path = ${schema}; BEGIN`)
      return client
    },
  }
}

async function startTicking({ scheduler }: Scene): Promise<void> {
  const job = (name: string): JobBuilder => JobBuilder.newJob('tick').withIdentity(name)
  await scheduler.scheduleJob(job('0').build(), every('tick', tickMs))
  await scheduler.scheduleJob(job('1').disallowConcurrentExecution().build(), every('strict tick', tickMs))
}

const heldKey = new JobKey('held')
const heldJob = JobBuilder.newJob('held')
  .withIdentity(heldKey)
  .storeDurably()
  .disallowConcurrentExecution()
  .persistJobDataAfterExecution()
  .build()

/** Everything else goes on while a lock is held. */
async function expectOthersToGoOn({ scheduler, ticks }: Scene, rounds = 10): Promise<void> {
  const sinceMs = Date.now()
  await Promise.all(ticks.map((runs) => runs.reach(rounds, sinceMs)))
  // A job of its own, and one more trigger of a job that is there.
  const far = new Date(Date.now() + 3_600_000)
  await scheduler.scheduleJob(
    JobBuilder.newJob('tick').build(),
    TriggerBuilder.newTrigger().startAt(far).build(),
  )
  await scheduler.scheduleJob(TriggerBuilder.newTrigger().forJob('0').startAt(far).build())
  await Promise.all(ticks.map((runs) => runs.more(rounds)))
  for (const runs of ticks) expect(runs.longestPauseMs(sinceMs)).toBeLessThan(longestPauseMs)
}

interface Lock {
  readonly name: string
  readonly take: (scene: Scene) => Promise<readonly pg.Client[]>
}

const rowLock = (name: string, select: string): Lock => ({
  name,
  take: async ({ begin }) => {
    const client = await begin()
    // A claim may be given back and made anew, as another row, between a look and the lock.
    while ((await client.query(`${select} FOR UPDATE`)).rows.length === 0);
    return [client]
  },
})

const userTransaction: Lock = {
  name: 'the transaction of a user that schedules a trigger of it',
  take: async ({ scheduler, begin }) => {
    const client = await begin()
    const later = TriggerBuilder.newTrigger()
      .withIdentity('of the user')
      .forJob(heldKey)
      .startAt(new Date(Date.now() + 3_600_000))
    await scheduler.withTransaction(client).scheduleJob(later.build())
    return [client]
  },
}
const jobRow = rowLock('its row', `SELECT 1 FROM qrtz_job_details WHERE job_name = 'held'`)
const triggerRow = rowLock(
  'the row of its trigger',
  `SELECT 1 FROM qrtz_triggers WHERE trigger_name = 'held'`,
)
const subRow = rowLock(
  'the row of how often its trigger fired',
  `SELECT 1 FROM qrtz_simple_triggers WHERE trigger_name = 'held'`,
)
const firedRow = rowLock(
  'the row of its claim or execution',
  `SELECT 1 FROM qrtz_fired_triggers WHERE trigger_name = 'held'`,
)
const many: Lock = {
  name: 'several transactions at once',
  // The claim first: where the other rows are held, a claim that was given back is not made anew.
  take: async (scene) => [
    ...(await firedRow.take(scene)),
    ...(await userTransaction.take(scene)),
    ...(await triggerRow.take(scene)),
  ],
}
const sibling: Lock = {
  name: 'the row of another trigger of it',
  take: async (scene) => {
    const later = TriggerBuilder.newTrigger()
      .withIdentity('sibling')
      .forJob(heldKey)
      .startAt(new Date(Date.now() + 3_600_000))
    await scene.scheduler.scheduleJob(later.build())
    return rowLock('', `SELECT 1 FROM qrtz_triggers WHERE trigger_name = 'sibling'`).take(scene)
  },
}

const release = (clients: readonly pg.Client[]): Promise<unknown> =>
  Promise.all(clients.map((client) => client.query('COMMIT')))

async function expectHeldToGoOn({ held, scheduler, query }: Scene): Promise<void> {
  await held.more(3)
  expect(held.gaps).toEqual([heldMs])
  await scheduler.standby()
  await scheduler.shutdown({ waitForJobsToComplete: true })
  // Its last run has ended, and nothing is left claimed.
  expect(await query('SELECT entry_id FROM qrtz_fired_triggers')).toEqual([])
  const [row] = await query(
    `SELECT convert_from(job_data, 'UTF8') AS data FROM qrtz_job_details WHERE job_name = 'held'`,
  )
  expect(JSON.parse(String(row?.['data']))).toEqual({ runs: held.planned.length })
}

describe('while somebody else holds a lock that a job needs, others fire, schedule and end', () => {
  const locks = [userTransaction, jobRow, triggerRow, firedRow, sibling, many]
  test.each(locks)('a job that ends: $name', async (lock) => {
    const scene = await openScene()
    const { scheduler, held, openGate } = scene
    await startTicking(scene)
    await scheduler.start()
    await scheduler.scheduleJob(heldJob, every('held', heldMs))
    await held.reach(1)
    const clients = await lock.take(scene)
    openGate()
    await expectOthersToGoOn(scene)
    expect(held.planned).toHaveLength(1)
    await release(clients)
    await expectHeldToGoOn(scene)
  })

  test.each([userTransaction, jobRow, triggerRow, subRow, firedRow, many])(
    'a trigger that is claimed: $name',
    async (lock) => {
      const scene = await openScene()
      const { scheduler, held, openGate, query } = scene
      openGate()
      await scheduler.start()
      // More than another trigger that turns up, so that its claim is to be given back as well.
      await scheduler.scheduleJob(heldJob, every('held', heldMs, Date.now() + 1500))
      while ((await query(`SELECT 1 FROM qrtz_fired_triggers WHERE state = 'ACQUIRED'`)).length === 0);
      const clients = await lock.take(scene)
      await startTicking(scene)
      await expectOthersToGoOn(scene)
      expect(held.planned).toHaveLength(0)
      await release(clients)
      await expectHeldToGoOn(scene)
    },
  )

  test.each([userTransaction, jobRow, triggerRow])('a trigger that comes due: $name', async (lock) => {
    const scene = await openScene()
    const { scheduler, held, openGate } = scene
    openGate()
    await startTicking(scene)
    await scheduler.scheduleJob(heldJob, every('held', heldMs, Date.now() + 500))
    const clients = await lock.take(scene)
    await scheduler.start()
    await expectOthersToGoOn(scene)
    expect(held.planned).toHaveLength(0)
    await release(clients)
    await expectHeldToGoOn(scene)
  })
})

/** How many transactions of the database were rolled back. */
async function rollbacks({ query }: Scene): Promise<number> {
  const [row] = await query(
    `SELECT CAST(pg_stat_get_db_xact_rollback(oid) AS integer) AS n FROM pg_database
     WHERE datname = current_database()`,
  )
  return Number(row?.['n'])
}

describe('while another session holds the row of how often a trigger fired, others fire and are on time', () => {
  /** A job that runs any number of times at a time, so that its triggers are fired where they are found. */
  const plainJob = JobBuilder.newJob('held').withIdentity(heldKey).storeDurably().build()

  /** Not started: what is due stays so until the row is held. */
  async function openPlainScene(): Promise<Scene> {
    const scene = await openScene()
    scene.openGate()
    await startTicking(scene)
    await scene.scheduler.scheduleJob(plainJob, every('held', heldMs, Date.now() + 500))
    return scene
  }

  test('a trigger that comes due', async () => {
    const scene = await openPlainScene()
    const { scheduler, held } = scene
    const clients = await subRow.take(scene)
    await scheduler.start()
    await expectOthersToGoOn(scene, 20)
    expect(held.planned).toHaveLength(0)
    await release(clients)
    await held.more(3)
    expect(held.gaps).toEqual([heldMs])
  })

  test('a trigger whose misfire instruction is due', async () => {
    const scene = await openPlainScene()
    const { scheduler, held, query } = scene
    await query(
      `UPDATE qrtz_triggers SET next_fire_time = next_fire_time - 120000 WHERE trigger_name = 'held'`,
    )
    const clients = await subRow.take(scene)
    await scheduler.start()
    await expectOthersToGoOn(scene, 20)
    expect(held.planned).toHaveLength(0)
    await release(clients)
    await held.more(3)
  })

  test('the misfire instructions of other triggers are carried out, and no search waits but the first', async () => {
    const scene = await openPlainScene()
    const { scheduler, held, query } = scene
    const [ticks] = scene.ticks
    const names = ['late 1', 'late 2', 'late 3']
    for (const name of names) {
      await scheduler.scheduleJob(
        TriggerBuilder.newTrigger().withIdentity(name).forJob('0').startNow().build(),
      )
    }
    await query(
      `UPDATE qrtz_triggers
       SET next_fire_time = next_fire_time - CASE trigger_name WHEN 'held' THEN 180000 ELSE 120000 END
       WHERE trigger_name = 'held' OR trigger_name LIKE 'late%'`,
    )
    const clients = await subRow.take(scene)
    await scheduler.start()
    await expectOthersToGoOn(scene)
    const left = await query(`SELECT trigger_name FROM qrtz_triggers WHERE trigger_name LIKE 'late%'`)
    expect(left).toEqual([])
    const before = await rollbacks(scene)
    await ticks?.more(20)
    // Some of those before may be among them, because a session tells its counts after a moment. With a wait in each
    // search there were two for each run.
    expect((await rollbacks(scene)) - before).toBeLessThan(20)
    await release(clients)
    await held.more(3)
  })
})

describe('while somebody else holds a lock', () => {
  test('calls that wait for it hold up no other call and use up no pool, however many there are', async () => {
    const scene = await openScene({ poolSize: 3 })
    const { scheduler } = scene
    await startTicking(scene)
    await scheduler.addJob(heldJob)
    await scheduler.start()
    const clients = await jobRow.take(scene)
    const numbers = Array.from({ length: 20 }, (_, number) => number)
    const waiting = numbers.flatMap((number) => [
      scheduler.scheduleJob(
        TriggerBuilder.newTrigger()
          .withIdentity(`of held ${String(number)}`)
          .forJob(heldKey)
          .startAt(new Date(Date.now() + 3_600_000))
          .build(),
      ),
      scheduler.addJob(heldJob, { replace: true }),
    ])
    let hasOneEnded = false
    void Promise.race(waiting).then(() => (hasOneEnded = true))
    await expectOthersToGoOn(scene)
    expect(hasOneEnded).toBe(false)
    await release(clients)
    await Promise.all(waiting)
    const [row] = await scene.query(
      `SELECT CAST(count(*) AS integer) AS n FROM qrtz_triggers WHERE job_name = 'held'`,
    )
    expect(row).toEqual({ n: numbers.length })
  })

  test('calls that depend on one that waits keep their order', async () => {
    const scene = await openScene()
    const { scheduler } = scene
    await startTicking(scene)
    await scheduler.addJob(heldJob)
    await scheduler.start()
    const clients = await jobRow.take(scene)
    const later = TriggerBuilder.newTrigger()
      .withIdentity('first', 'held')
      .startAt(new Date(Date.now() + 3_600_000))
    const described = (description: string) => ({ ...heldJob, description })
    const calls = [
      scheduler.scheduleJob(described('one'), [later.build()], { replace: true }),
      scheduler.scheduleJob(described('two'), [later.build()], { replace: true }),
    ]
    await expectOthersToGoOn(scene)
    calls.push(scheduler.scheduleJob(described('three'), [later.build()], { replace: true }))
    await expectOthersToGoOn(scene)
    await release(clients)
    await Promise.all(calls)
    expect((await scheduler.getJobDetail(heldKey))?.description).toBe('three')
  })

  test('a change of groups that waits for it is reported, and holds up neither firing nor scheduling', async () => {
    const scene = await openScene()
    const { scheduler } = scene
    await startTicking(scene)
    await scheduler.addJob(heldJob)
    await scheduler.start()
    const clients = await userTransaction.take(scene)
    const reported = scheduler.events.next('lockWaitExceeded')
    const pausing = scheduler.pauseTriggers(GroupMatcher.groupEquals('nothing here'))
    const { holders } = await reported
    expect(holders.map(({ state }) => state)).toEqual(['idle in transaction'])
    await expectOthersToGoOn(scene)
    await release(clients)
    expect(await pausing).toEqual(['nothing here'])
  })

  test.each([userTransaction, triggerRow, firedRow])('a shutdown ends all the same: $name', async (lock) => {
    const scene = await openScene()
    const { scheduler, held, openGate, query } = scene
    const errors: string[] = []
    scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
    await startTicking(scene)
    await scheduler.start()
    await scheduler.scheduleJob(heldJob, every('held', heldMs))
    await held.reach(1)
    const clients = await lock.take(scene)
    const ended = scheduler.events.next('jobWasExecuted')
    openGate()
    await ended
    await expectOthersToGoOn(scene, 3)
    // The ticks that run would be left as well.
    await scheduler.standby()
    await vi.waitFor(
      async () => {
        expect(await query("SELECT entry_id FROM qrtz_fired_triggers WHERE trigger_name <> 'held'")).toEqual(
          [],
        )
      },
      { timeout: 60_000 },
    )
    await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 2000 })
    expect(errors).toEqual([expect.stringContaining('1 ended executions are not written')])
    await release(clients)
    // What could not be written is for recovery.
    expect(await query('SELECT trigger_name, state FROM qrtz_fired_triggers')).toEqual([
      { trigger_name: 'held', state: 'EXECUTING' },
    ])
  })

  test.each([jobRow, triggerRow])(
    'the other firings of a node that failed are recovered: $name',
    async (lock) => {
      const scene = await openScene()
      const { scheduler, held, query } = scene
      await scheduler.start()
      const other = new JobKey('other')
      const blocking = JobBuilder.newJob('held').withIdentity(other).disallowConcurrentExecution().build()
      await scheduler.scheduleJob(heldJob, every('held', 3_600_000))
      await scheduler.scheduleJob(blocking, every('other', 3_600_000))
      await held.reach(2)
      const clients = await lock.take(scene)
      const lost: (string | undefined)[] = []
      scheduler.events.on('executionLost', ({ jobKey }) => lost.push(jobKey?.name))
      const first = scheduler.events.next('nodeRecovered')
      // As if another node had begun them, and were gone.
      await query(`UPDATE qrtz_fired_triggers SET instance_name = 'dead'`)
      await first
      expect(lost).toEqual(['other'])
      const second = scheduler.events.next('nodeRecovered')
      await release(clients)
      await second
      expect(lost).toEqual(['other', 'held'])
      expect(await query('SELECT entry_id FROM qrtz_fired_triggers')).toEqual([])
    },
  )
})
