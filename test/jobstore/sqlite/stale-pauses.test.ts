import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { TriggerKey } from '../../../src/core/key.ts'
import { SqlJobStore } from '../../../src/jobstore/sql/sql-job-store.ts'
import { sqliteEngine } from '../../../src/jobstore/sqlite/sqlite-engine.ts'
import { resolveSqliteOptions } from '../../../src/jobstore/sqlite/sqlite-options.ts'
import { Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { temporaryFolder } from '../../support/sqlite.ts'
import { withTransactions } from '../../support/wrapped-engine.ts'

let bed: Testbed
/** Another program, such as a Java node. */
let other: InstanceType<typeof Database>
let transactions = 0

/** A store on tables shared with Java. */
beforeEach(async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const shared = { ...sqliteEngine(resolveSqliteOptions({ filename })), sharedWithJava: true }
  const counted = withTransactions(shared, (inner) => (program, options) => {
    transactions++
    return inner.transact(program, options)
  })
  bed = new Testbed(new SqlJobStore(counted), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  await bed.store.schedulerStarted()
  other = new Database(filename)
  onTestFinished(async () => {
    other.close()
    await bed.store.shutdown()
  })
})

const pausedUntil = (untilMs: number | null): { reason: null; by: null; untilMs: number | null } => {
  return { reason: null, by: null, untilMs }
}

test('a timed pause ends where what is known of another one cannot be forgotten, which is told once', async () => {
  for (const name of ['mine', 'also mine', 'of Java']) await bed.schedule(name, { inMs: 3_600_000 })
  await bed.store.pauseTrigger(new TriggerKey('mine'), pausedUntil(bed.now() + 1000))
  await bed.store.pauseTrigger(new TriggerKey('also mine'), pausedUntil(bed.now() + 2000))
  await bed.store.pauseTrigger(new TriggerKey('of Java'), pausedUntil(bed.now() + 60_000))
  other.exec(`UPDATE qrtz_triggers SET trigger_state = 'WAITING' WHERE trigger_name = 'of Java'`)
  other.exec(`CREATE TRIGGER kept BEFORE DELETE ON qrtz_pauses WHEN OLD.pause_name = 'of Java'
    BEGIN SELECT RAISE(ABORT, 'it stays'); END`)
  for (const name of ['mine', 'also mine']) {
    await bed.clock.advance(1000)
    const { ended } = await bed.store.endPauses()
    expect(ended).toEqual([{ scope: 'trigger', key: new TriggerKey(name) }])
    expect(await bed.state(name)).toBe('NORMAL')
  }
  expect(bed.signals.errors.map(({ message }) => message)).toEqual([
    'What is known of pauses that Java nodes or other programs have ended could not be forgotten; it is tried again.',
  ])
  other.exec('DROP TRIGGER kept')
  expect(await bed.store.endPauses()).toEqual({ ended: [], nextMs: null })
  expect(other.prepare('SELECT * FROM qrtz_pauses').all()).toEqual([])
})

test('a look for pauses that are over writes nothing while none is timed', async () => {
  await bed.schedule('t', { inMs: 3_600_000 })
  await bed.store.endPauses()
  await bed.store.pauseTrigger(new TriggerKey('t'), pausedUntil(null))
  transactions = 0
  expect(await bed.store.endPauses()).toEqual({ ended: [], nextMs: null })
  expect(transactions).toBe(0)
})
