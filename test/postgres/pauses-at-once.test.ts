import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { PauseNote } from '../../src/jobstore/pauses.ts'
import type { SqlProgram } from '../../src/jobstore/sql/kernel/statement.ts'
import { jobDetail, type Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { closedGate } from '../support/held-statement.ts'
import { patientBed } from '../support/patient-bed.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

const clock = new ManualClock()
const job = jobDetail('job', { durable: true })
const mine = new TriggerKey('mine')
const hourly = { inMs: 3_600_000, everyMs: 3_600_000, job }

let database: TestDatabase
let one: Testbed
let other: Testbed
beforeAll(async () => {
  database = await freshDatabase()
  one = await patientBed(database, { instanceId: 'one', clock, around: patiently })
  other = await patientBed(database, { instanceId: 'other', clock, around: patiently })
})
afterAll(async () => {
  await one.store.shutdown()
  await other.store.shutdown()
  await database[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await database.emptySchema('public')
  await one.schedule('mine', hourly)
  await one.schedule('paused', hourly)
})

/** Its transactions wait for rows for as long as these are locked, and are not given up and run again. */
function* patiently<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
  yield { text: 'SET LOCAL lock_timeout = 0', values: [] }
  return yield* program
}

const aSecond = (): PauseNote => ({ reason: 'timed', by: null, untilMs: clock.now() + 1000 })
const byHand: PauseNote = { reason: 'by hand', by: null, untilMs: null }

function notes(): Promise<unknown> {
  return database.query('SELECT pause_scope AS scope, reason FROM qrtz_pauses')
}

test.each<readonly [string, (store: Testbed['store']) => Promise<unknown>]>([
  ['everything', (store) => store.resumeAll()],
  ['its group', (store) => store.resumeTriggers(GroupMatcher.groupEquals(mine.group))],
  ['the group of its job', (store) => store.resumeJobs(GroupMatcher.groupEquals(job.key.group))],
  ['its job', (store) => store.resumeJob(job.key)],
])('a timed pause that is made while %s is resumed ends at its time', async (_, resume) => {
  await one.store.pauseTrigger(new TriggerKey('paused'))
  const gate = await closedGate(database, {
    on: 'UPDATE',
    table: 'qrtz_triggers',
    when: `NEW.trigger_name = 'paused'`,
  })
  const resumed = resume(other.store)
  await gate.reached()
  const paused = one.store.pauseTrigger(mine, aSecond())
  await Promise.race([paused, gate.isWaitedFor()])
  await gate.open()
  await resumed
  expect(await paused).toBe(true)
  expect(await one.states('mine', 'paused')).toEqual(['PAUSED', 'NORMAL'])
  expect(await notes()).toEqual([{ scope: 'trigger', reason: 'timed' }])
  await clock.advance(1000)
  const { ended } = await one.store.endPauses()
  expect(ended).toEqual([{ scope: 'trigger', key: mine }])
  expect(await one.state('mine')).toBe('NORMAL')
})

type Store = Testbed['store']

/** Pauses that hold the trigger, besides its own. */
const wide: readonly (readonly [string, string, (store: Store, note: PauseNote) => Promise<unknown>])[] = [
  ['its job', 'job', (store, note) => store.pauseJob(job.key, note)],
  [
    'its group',
    'triggerGroup',
    (store, note) => store.pauseTriggers(GroupMatcher.groupEquals(mine.group), note),
  ],
  [
    'the group of its job',
    'jobGroup',
    (store, note) => store.pauseJobs(GroupMatcher.groupEquals(job.key.group), note),
  ],
  ['everything', 'all', (store, note) => store.pauseAll(note)],
]

test.each(wide)(
  'a trigger that is paused while a timed pause of %s ends stays paused',
  async (_, __, pause) => {
    await pause(one.store, aSecond())
    await clock.advance(1000)
    const when = `NEW.pause_scope = 'trigger'`
    const gate = await closedGate(database, { on: 'INSERT', table: 'qrtz_pauses', when })
    const paused = one.store.pauseTrigger(mine, byHand)
    await gate.reached()
    const ended = other.store.endPauses()
    await gate.isWaitedFor()
    await gate.open()
    expect(await paused).toBe(true)
    expect((await ended).ended).toHaveLength(1)
    expect(await one.states('mine', 'paused')).toEqual(['PAUSED', 'NORMAL'])
    expect(await notes()).toEqual([{ scope: 'trigger', reason: 'by hand' }])
  },
)

test.each(wide)(
  'a trigger whose timed pause ends while %s is paused stays paused',
  async (_, scope, pause) => {
    await one.store.pauseTrigger(mine, aSecond())
    await clock.advance(1000)
    const when = `NEW.pause_scope = '${scope}'`
    const gate = await closedGate(database, { on: 'INSERT', table: 'qrtz_pauses', when })
    const paused = pause(one.store, byHand)
    await gate.reached()
    const ended = other.store.endPauses()
    await Promise.race([ended, gate.isWaitedFor()])
    await gate.open()
    await paused
    expect((await ended).ended).toEqual([{ scope: 'trigger', key: mine }])
    expect(await one.states('mine', 'paused')).toEqual(['PAUSED', 'PAUSED'])
  },
)
