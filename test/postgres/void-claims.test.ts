import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { AcquiredAndFired } from '../../src/jobstore/job-store.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
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

async function untilSomebodyWaits(sessions = 1): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  while ((await database.query(waiting)).length < sessions);
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

/** Holds the row of a trigger; answers what lets it go. */
async function holdTrigger(name: string): Promise<() => Promise<unknown>> {
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM qrtz_triggers WHERE trigger_name = $1 FOR UPDATE', [name])
  return () => client.query('COMMIT')
}

const executing = () =>
  database.query(`SELECT trigger_name FROM qrtz_fired_triggers WHERE state = 'EXECUTING' ORDER BY 1`)

/** Two claims of one job that allows concurrent execution, and another node. */
async function claimedTwice() {
  const clock = new ManualClock()
  const [one, other] = [await newBed(clock, 'one'), await newBed(clock, 'other')]
  for (const name of ['a', 'b']) await one.schedule(name, everySecond)
  const claims = await one.acquire({ maxCount: 2 })
  expect(claims.map(({ isConcurrent }) => isConcurrent)).toEqual([true, true])
  return { one, other, claims }
}

test('claims of a job that has been replaced since fire the new one', async () => {
  const { one, other, claims } = await claimedTwice()
  await other.store.addJob({ ...one.job, description: 'new' }, { replace: true })
  const results = await one.store.triggersFired(claims)
  const descriptions = results.map((result) => {
    return result.kind === 'fired' ? result.bundle.jobDetail.description : result.kind
  })
  expect(descriptions).toEqual(['new', 'new'])
})

test('claims of a job that forbids concurrent execution since fire nothing', async () => {
  const { one, other, claims } = await claimedTwice()
  await other.store.addJob({ ...one.job, disallowConcurrentExecution: true }, { replace: true })
  const results = await one.store.triggersFired(claims)
  expect(results.map(({ kind }) => kind)).toEqual(['gone', 'gone'])
  expect(await executing()).toEqual([])
})

test('of claims of both kinds of jobs those fire whose triggers no other session has locked', async () => {
  const one = await newBed(new ManualClock(), 'one')
  for (const name of ['free', 'held']) await one.schedule(name, everySecond)
  for (const name of ['strict free', 'strict held']) {
    await one.schedule(name, { ...everySecond, job: jobDetail(name, { disallowConcurrentExecution: true }) })
  }
  const claims = await one.acquire({ maxCount: 4 })
  const releases = [await holdTrigger('held'), await holdTrigger('strict held')]
  const fire = async (): Promise<unknown> => {
    const results = await one.store.triggersFired(claims)
    return Object.fromEntries(claims.map(({ trigger }, index) => [trigger.key.name, results[index]?.kind]))
  }
  const [fired, locked] = ['fired', 'locked']
  expect(await fire()).toEqual({ free: fired, held: locked, 'strict free': fired, 'strict held': locked })
  expect(await executing()).toEqual([{ trigger_name: 'free' }, { trigger_name: 'strict free' }])
  for (const release of releases) await release()
  expect(await fire()).toMatchObject({ held: fired, 'strict held': fired })
  expect(await executing()).toHaveLength(4)
})

test('a claim on a job that is for other nodes since fires nothing', async () => {
  const clock = new ManualClock()
  const [one, other] = [await newBed(clock, 'one'), await newBed(clock, 'other')]
  await one.schedule('t', everySecond)
  const claim = await one.acquireOne('t')
  const job = { ...one.job, nodeAffinity: { names: ['other'], required: true } }
  await other.store.addJob(job, { replace: true })
  expect(other.signals.announced(clock.now())).toBe(true)
  expect(await one.fireKind(claim)).toBe('gone')
  expect(await one.acquireNames()).toEqual([])
  expect((await other.start('t')).jobDetail).toEqual(job)
})

/**
 * Has each session wait that stores a claim or an execution, for longer than a store would, until the answered function
 * is called.
 */
async function holdNewFirings(): Promise<() => Promise<unknown>> {
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await database.query('DROP FUNCTION held CASCADE')
  })
  await client.query(`
    CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0
    AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END $$;
    CREATE TRIGGER held BEFORE INSERT ON qrtz_fired_triggers FOR EACH ROW EXECUTE FUNCTION held();
    SELECT pg_advisory_lock(1)`)
  return () => client.query('SELECT pg_advisory_unlock(1)')
}

/** Replaces the job while a search of another node has taken its trigger and has not committed. */
async function replacedDuringSearch(
  [one, other]: readonly [Testbed, Testbed],
  job: JobDetail,
  untilMs: number,
): Promise<AcquiredAndFired> {
  const letGo = await holdNewFirings()
  const searched = one.acquireAndFire({ noLaterThanMs: untilMs, maxCount: 1 })
  await untilSomebodyWaits()
  const replaced = other.store.addJob(job, { replace: true })
  await Promise.race([replaced, untilSomebodyWaits(2)])
  await letGo()
  await replaced
  return searched
}

const otherKinds: Readonly<Record<string, Partial<JobDetail>>> = {
  'of a type that its node does not know': { jobType: 'new' },
  'of a job for other nodes': { nodeAffinity: { names: ['other'], required: true } },
  'of a job that forbids concurrent execution': { disallowConcurrentExecution: true },
}

test.each(Object.entries(otherKinds))(
  'a trigger that is claimed while its job is replaced by one %s is free again',
  async (_, kind) => {
    const clock = new ManualClock()
    const [one, other] = [await newBed(clock, 'one'), await newBed(clock, 'other')]
    one.unknownJobTypes.add('new')
    await one.schedule('t', { inMs: 500, ...everySecond })
    const job = { ...one.job, ...kind }
    const { acquired } = await replacedDuringSearch([one, other], job, one.now() + 500)
    await clock.advance(500)
    // Another node need not wait for the node that had the claim.
    expect((await other.start('t')).jobDetail).toEqual(job)
    const results = await one.store.triggersFired(acquired)
    expect(results.map((result) => result.kind)).toEqual(['gone'])
  },
)

test('a trigger waits, and is told, when its job forbids concurrent execution while another one is fired', async () => {
  const clock = new ManualClock()
  const [one, other] = [await newBed(clock, 'one'), await newBed(clock, 'other')]
  await one.schedule('a', everySecond)
  await one.schedule('b', { inMs: 500, ...everySecond })
  const job = { ...one.job, disallowConcurrentExecution: true }
  const { fired } = await replacedDuringSearch([one, other], job, one.now())
  expect(fired.map(({ trigger }) => trigger.key.name)).toEqual(['a'])
  await clock.advance(500)
  expect(await one.states('a', 'b')).toEqual(['BLOCKED', 'BLOCKED'])
  expect(await other.acquireNames()).toEqual([])
  one.signals.clear()
  for (const bundle of fired) await one.complete(bundle)
  expect(one.signals.announced(clock.now())).toBe(true)
  expect(await other.acquireNames()).toEqual(['b'])
})

// A Java node leaves the claims of other nodes when it replaces a job.
test('a claim is given back when a Java node has given the job a type that its node does not know', async () => {
  const clock = new ManualClock()
  const [one, other] = [await newBed(clock, 'one'), await newBed(clock, 'other')]
  one.unknownJobTypes.add('new')
  await one.schedule('t', everySecond)
  const claim = await one.acquireOne('t')
  await database.query(`UPDATE qrtz_job_details SET job_class_name = 'new'`)
  one.signals.clear()
  expect(await one.fireKind(claim)).toBe('gone')
  expect(one.signals.announced(clock.now())).toBe(true)
  expect(await one.acquireNames()).toEqual([])
  expect((await other.start('t')).jobDetail.jobType).toBe('new')
})
