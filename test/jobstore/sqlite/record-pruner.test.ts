import { expect, onTestFinished, test, vi } from 'vitest'
import type { SqlProgram } from '../../../src/jobstore/sql/kernel/statement.ts'
import { SqlJobStore } from '../../../src/jobstore/sql/sql-job-store.ts'
import { sqliteEngine } from '../../../src/jobstore/sqlite/sqlite-engine.ts'
import { resolveSqliteOptions } from '../../../src/jobstore/sqlite/sqlite-options.ts'
import { Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { entry } from '../../support/record-bed.ts'
import { withTransactions } from '../../support/wrapped-engine.ts'

/** Calls `tell` with each statement of a program. */
function* told<Answer>(program: SqlProgram<Answer>, tell: (text: string) => void): SqlProgram<Answer> {
  let step = program.next()
  while (step.done !== true) {
    tell(step.value.text)
    step = program.next(yield step.value)
  }
  return step.value
}

test('where the surplus ends is asked once, however many rows go', async () => {
  const options = resolveSqliteOptions({ filename: ':memory:', audit: { maxRows: 100 } })
  let [asked, deleted] = [0, 0]
  const count = (text: string): void => {
    if (/qrtz_audit.*OFFSET/s.test(text)) asked++
    if (/DELETE FROM qrtz_audit/.test(text)) deleted++
  }
  const engine = withTransactions(
    sqliteEngine(options),
    (inner) => (begin, given) => inner.transact(() => told(begin(), count), given),
  )
  const bed = new Testbed(new SqlJobStore(engine), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  for (let block = 0; block < 20; block++) {
    await bed.clock.advance(1)
    const audits = Array.from({ length: 100 }, (_, index) => entry(bed, `${block}-${index}`))
    await bed.store.records?.write({ audits })
  }
  await bed.clock.advance(60_000)
  await bed.store.records?.write({ audits: [entry(bed, 'last')] })
  await vi.waitFor(
    () => {
      expect(deleted).toBeGreaterThanOrEqual(4)
    },
    { timeout: 10_000 },
  )
  expect(asked).toBe(1)
})
