import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { dayMs, open, writeLater } from '../../support/record-bed.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

test('reads the executions among which it looks for those with an outcome in steps', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const bed = await open(
    {
      engine: 'SQLite',
      prepare: () => Promise.resolve((options) => sqliteJobStore({ filename, ...options })),
    },
    { history: { record: 'all', maxAgeMsByOutcome: { vetoed: dayMs } } },
  )
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
  })
  const startMs = bed.now()
  const insert = database.prepare(
    `INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group, job_name, job_group,
       job_type, instance_name, planned_time, fired_time, finished_time, attempt, outcome, recovering)
     WITH RECURSIVE s(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM s WHERE i < ?)
     SELECT 'conformance', 'x' || i, 't', 'g', 'j', 'g', 'j', 'n', 0, ${String(startMs)} + i, 0, 1, ?, false FROM s`,
  )
  const left = (): number[] =>
    database
      .prepare(`SELECT fired_time - ${String(startMs)} FROM qrtz_execution_history WHERE outcome = 'vetoed'`)
      .pluck()
      .all() as number[]
  insert.run(0, 2, 'vetoed')
  insert.run(10, 12_000, 'succeeded')
  insert.run(20_000, 20_600, 'vetoed')
  await bed.clock.advance(2 * dayMs)
  const seen = new Set<number>()
  await writeLater(bed, () => ({}))
  for (let vetoed = left(); vetoed.length > 0; vetoed = left()) {
    seen.add(vetoed.length)
    await new Promise(setImmediate)
  }
  // The first ones were gone while the others were not reached yet.
  expect(seen).toContain(601)

  // Stored behind the place that was reached, as of an execution that took longer than its age.
  insert.run(3, 3, 'vetoed')
  await vi.waitFor(
    async () => {
      await writeLater(bed, () => ({}))
      expect(left()).toEqual([])
    },
    { timeout: 20_000, interval: 5 },
  )
})
