import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  const bed = new Testbed(newStore(), new ManualClock(), 'first')
  await bed.store.initialize(bed.context)
  await bed.store.shutdown()
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(() => database.emptySchema('public'))

function newStore(): Testbed['store'] {
  return postgresJobStore({ connectionString: database.connectionString, listen: false })
}

async function newBed(clock: ManualClock, instanceId: string): Promise<Testbed> {
  const bed = new Testbed(newStore(), clock, instanceId)
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  return bed
}

/** A session that has the row of the claim, as the node does that is about to fire it. */
async function firingSession(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  await client.query(`SELECT 1 FROM qrtz_fired_triggers WHERE state = 'ACQUIRED' FOR UPDATE`)
  return client
}

async function untilSomebodyWaits(): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  while ((await database.query(waiting)).length === 0);
}

const key = new TriggerKey('t')
const everySecond = { everyMs: 1000 }

/** What takes a claimed trigger from its claim, and leaves it with the same fire times. */
const changes: Readonly<Record<string, (bed: Testbed, inMs: number) => Promise<unknown>>> = {
  'is replaced': (bed, inMs) => bed.store.rescheduleTrigger(key, bed.trigger('t', { inMs, ...everySecond })),
  'is replaced by one that goes on from what is due': (bed, inMs) =>
    bed.store.rescheduleTrigger(key, bed.trigger('t', { inMs, ...everySecond }), { goesOnFrom: 'due' }),
  'is stored anew': (bed, inMs) =>
    bed.store.scheduleJobs([{ job: null, triggers: [bed.trigger('t', { inMs, ...everySecond })] }], {
      replace: true,
    }),
  'is paused and resumed': async (bed) => {
    await bed.store.pauseTrigger(key)
    await bed.store.resumeTrigger(key)
  },
  'is deleted and stored': async (bed, inMs) => {
    await bed.store.deleteTriggers([key])
    await bed.schedule('t', { inMs, ...everySecond })
  },
}

// Its node passes it over, because its trigger is locked, and tries again later: by then a third claim may be there.
test.each(Object.entries(changes))(
  'a claim whose row is locked while its trigger %s fires nothing afterwards',
  async (_, change) => {
    const clock = new ManualClock()
    const [one, other] = [await newBed(clock, 'one'), await newBed(clock, 'other')]
    await one.schedule('t', { inMs: 500, ...everySecond })
    const [claim = expect.fail()] = await one.acquire({ noLaterThanMs: one.now() + 500 })
    const firing = await firingSession()
    const changed = change(other, 500)
    await Promise.race([changed, untilSomebodyWaits()])
    await firing.query('ROLLBACK')
    await changed
    await clock.advance(500)
    await other.complete(await other.start('t'))
    await other.acquire({ noLaterThanMs: other.now() + 1000 })
    expect(await one.fireKind(claim)).toBe('gone')
    expect(await database.query(`SELECT instance_name FROM qrtz_fired_triggers`)).toEqual([
      { instance_name: 'other' },
    ])
  },
)
