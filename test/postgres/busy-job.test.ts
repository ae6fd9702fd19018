import pg from 'pg'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  JobKey,
  type Scheduler,
  SchedulerError,
  type Trigger,
  TriggerBuilder,
} from 'quartz-ts'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()
const busyKey = new JobKey('busy')
const later = new Date(Date.now() + 3_600_000)

interface Busy {
  readonly schedulers: readonly Scheduler[]
  /** Frees the row of the job, which another session holds from the beginning. */
  readonly free: () => Promise<unknown>
  /** The statements of the schedulers that wait for a lock now, by who began them when. */
  readonly waiting: () => Promise<readonly string[]>
  readonly query: (text: string) => Promise<readonly Record<string, unknown>[]>
  /** Takes the row for another session that waits in the queue of the server. */
  readonly takeAgain: () => Promise<unknown>
}

/** Schedulers that know a job which runs once at a time, whose row somebody else holds. */
async function openBusy({ count, lockTimeoutMs }: { count: number; lockTimeoutMs: number }): Promise<Busy> {
  const newStore = await stores.prepare()
  const schedulers: Scheduler[] = []
  for (let index = 0; index < count; index++) {
    const scheduler = await createScheduler({
      instanceId: `node-${index}`,
      jobs: [defineJob('busy', () => {})],
      jobStore: newStore({ lockTimeoutMs, lockWaitWarningMs: 0 }),
    })
    onTestFinished(() => scheduler.shutdown())
    schedulers.push(scheduler)
  }
  const [first] = schedulers
  const job = JobBuilder.newJob('busy').withIdentity(busyKey).storeDurably().disallowConcurrentExecution()
  await first?.addJob(job.build())
  const [looking, holding] = [await connect(), await connect()]
  const query: Busy['query'] = async (text) => (await looking.query<Record<string, unknown>>(text)).rows
  const [row] = await query(
    `SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'qrtz_triggers'
     ORDER BY CAST(substr(schemaname, 2) AS integer) DESC`,
  )
  const searchPath = `SET search_path = ${String(row?.['schema'])}`
  await looking.query(searchPath)
  const take = `${searchPath}; BEGIN; SELECT 1 FROM qrtz_job_details WHERE job_name = 'busy' FOR UPDATE`
  await holding.query(take)
  return {
    schedulers,
    takeAgain: async () => (await connect()).query(take),
    free: () => holding.query('COMMIT'),
    waiting: async () =>
      (
        await query(
          `SELECT pid || ' ' || query_start AS wait FROM pg_stat_activity
           WHERE wait_event_type = 'Lock' AND query LIKE '%"' || current_schema() || '".qrtz_job_details%'`,
        )
      ).map(({ wait }) => String(wait)),
    query,
  }
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(stores.connection())
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Looks until so many different waits were seen; answers the most that waited at a time. */
async function seeWaits({ waiting }: Busy, count: number): Promise<number> {
  const seen = new Set<string>()
  let most = 0
  while (seen.size < count) {
    const now = await waiting()
    most = Math.max(most, now.length)
    for (const wait of now) seen.add(wait)
  }
  return most
}

test('many calls for a job whose lock is taken stand in the queue of the server once for each scheduler', async () => {
  const busy = await openBusy({ count: 2, lockTimeoutMs: 60_000 })
  const call = (): Promise<unknown>[] =>
    busy.schedulers.flatMap((scheduler) => Array.from({ length: 20 }, () => scheduler.triggerJob(busyKey)))
  const calls = call()
  await seeWaits(busy, 6)
  calls.push(...call())
  expect(await seeWaits(busy, 6)).toBeLessThanOrEqual(2)
  await busy.free()
  await Promise.all(calls)
  const [row] = await busy.query(
    `SELECT CAST(count(*) AS integer) AS stored FROM qrtz_triggers WHERE job_name = 'busy'`,
  )
  expect(row).toEqual({ stored: calls.length })
})

test('a call that waits behind another one for a job is given up when its own time is over', async () => {
  const busy = await openBusy({ count: 1, lockTimeoutMs: 5000 })
  const [scheduler] = busy.schedulers
  let isLaterEnded = false
  const first = scheduler?.triggerJob(busyKey)
  await seeWaits(busy, 5)
  const second = scheduler?.triggerJob(busyKey).finally(() => (isLaterEnded = true))
  await expect(first).rejects.toMatchObject({ code: 'ERR_DATABASE_UNAVAILABLE' })
  expect(isLaterEnded).toBe(false)
  await busy.free()
  await second
})

test('a call that is refused among those that waited with it is refused by itself', async () => {
  const busy = await openBusy({ count: 1, lockTimeoutMs: 60_000 })
  const [scheduler] = busy.schedulers
  const named = (name: string): Trigger =>
    TriggerBuilder.newTrigger().withIdentity(name).forJob(busyKey).startAt(later).build()
  const first = scheduler?.scheduleJob(named('there'))
  await seeWaits(busy, 3)
  const behind = ['one', 'there', 'two'].map((name) => scheduler?.scheduleJob(named(name)))
  const outcomes = Promise.allSettled([first, ...behind])
  await busy.free()
  const refused = (await outcomes).map((outcome) =>
    outcome.status === 'rejected' && SchedulerError.is(outcome.reason) ? outcome.reason.code : null,
  )
  expect(refused).toEqual([null, null, 'ERR_OBJECT_ALREADY_EXISTS', null])
})

test('calls that the database refuses together are given up when their own times are over', async () => {
  const busy = await openBusy({ count: 1, lockTimeoutMs: 2000 })
  const [scheduler] = busy.schedulers
  await busy.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF NEW.trigger_name = 'refused' THEN PERFORM pg_sleep(0.5); RAISE EXCEPTION 'refused'; END IF;
       RETURN NEW;
     END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON qrtz_triggers FOR EACH ROW EXECUTE FUNCTION refuse()`,
  )
  const store = async (name: string): Promise<void> => {
    const trigger = TriggerBuilder.newTrigger().withIdentity(name).forJob(busyKey).startAt(later)
    await scheduler?.scheduleJob(trigger.build())
  }
  const first = store('first')
  await seeWaits(busy, 2)
  const beganMs = Date.now()
  const behind = Promise.allSettled(['one', 'two', 'refused', 'three', 'four', 'five', 'six'].map(store))
  // They stand in the queue of this process when the first one waits once more.
  await seeWaits(busy, 2)
  await busy.free()
  await first
  await busy.takeAgain()
  const outcomes = await behind
  expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'rejected'))
  // It took 14 seconds where each waited for as long, one after the other.
  expect(Date.now() - beganMs).toBeLessThan(6000)
})
