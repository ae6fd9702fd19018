import { expect, onTestFinished, test } from 'vitest'
import { JobPersistenceError } from '../../../src/core/errors.ts'
import type { JobCompletion } from '../../../src/jobstore/job-store.ts'
import { RowsLockedError } from '../../../src/jobstore/sql/kernel/sql-runner.ts'
import { SqlJobStore } from '../../../src/jobstore/sql/sql-job-store.ts'
import { sqliteEngine } from '../../../src/jobstore/sqlite/sqlite-engine.ts'
import { resolveSqliteOptions } from '../../../src/jobstore/sqlite/sqlite-options.ts'
import { completionOf, Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { withTransactions } from '../../support/wrapped-engine.ts'

const lost = new JobPersistenceError('The connection was lost.')

/** The ends of two firings that go on elsewhere, in a store whose next transactions fail as `failures` say. */
async function open() {
  const failures: (Error | null)[] = []
  const engine = withTransactions(
    sqliteEngine(resolveSqliteOptions({ filename: ':memory:' })),
    (inner) => (begin, options) => {
      const failure = failures.shift() ?? null
      return failure === null ? inner.transact(begin, options) : Promise.reject(failure)
    },
  )
  const bed = new Testbed(new SqlJobStore(engine), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  const end = async (name: string): Promise<JobCompletion> => {
    await bed.schedule(name)
    const bundle = await bed.start(name)
    const deadlineMs = bed.now() + 60_000
    const awaited = { reference: name, note: '', deadlineMs, retriesOnTimeout: false, beganTimeMs: bed.now() }
    await bed.store.awaitedResults?.put([{ ...awaited, bundle }])
    return completionOf(bundle, 'noop', { isAwaited: true })
  }
  const one = await end('one')
  const other = await end('other')
  return { bed, failures, one, other }
}

test('who has ended a firing learns so although the end of another one fails', async () => {
  const { bed, failures, one, other } = await open()
  failures.push(new RowsLockedError('locked'), null, lost)
  const answer = await bed.store.triggeredJobsComplete([one, other])
  expect(answer).toEqual({ locked: [other], passedOver: [] })
  const message = 'Some of the executions that had ended could not be written; they are tried again.'
  expect(bed.signals.errors).toEqual([{ message, cause: lost }])
  expect(await bed.store.triggeredJobsComplete([other])).toEqual({ locked: [], passedOver: [] })
})

test('a call that has ended none rejects, and each counts when it is tried again', async () => {
  const { bed, failures, one, other } = await open()
  failures.push(new RowsLockedError('locked'), new RowsLockedError('locked'), lost)
  await expect(bed.store.triggeredJobsComplete([one, other])).rejects.toBe(lost)
  expect(await bed.store.triggeredJobsComplete([one, other])).toEqual({ locked: [], passedOver: [] })
})
