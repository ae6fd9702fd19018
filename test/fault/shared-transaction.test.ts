import { expect, onTestFinished, test } from 'vitest'
import { type ErrorCode, JobPersistenceError } from '../../src/core/errors.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { sqliteEngine } from '../../src/jobstore/sqlite/sqlite-engine.ts'
import { resolveSqliteOptions } from '../../src/jobstore/sqlite/sqlite-options.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { withTransactions } from '../support/wrapped-engine.ts'

/** A store whose transactions are counted and fail while `fails` says with what. */
async function failingStore() {
  const engine = sqliteEngine(resolveSqliteOptions({ filename: ':memory:' }))
  const state = { transactions: 0, fails: (): Error | null => null }
  const failing = withTransactions(engine, (inner) => async (program, options) => {
    state.transactions++
    const error = state.fails()
    if (error !== null) throw error
    return inner.transact(program, options)
  })
  const bed = new Testbed(new SqlJobStore(failing), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  const scheduleThree = () =>
    Promise.allSettled(['a', 'b', 'c'].map((name) => bed.scheduleAll([bed.trigger(name, {})])))
  return { bed, state, scheduleThree }
}

test.each<ErrorCode>(['ERR_DATABASE_UNAVAILABLE', 'ERR_COMMIT_UNKNOWN'])(
  'calls that share a transaction are refused together with %s: none is run again',
  async (code) => {
    const { bed, state, scheduleThree } = await failingStore()
    await bed.store.addJob(bed.job, { replace: false })
    const before = state.transactions
    const error = new JobPersistenceError('away', { code })
    state.fails = () => error
    const refused = { status: 'rejected', reason: error }
    expect(await scheduleThree()).toEqual([refused, refused, refused])
    expect(state.transactions - before).toBe(1)
    state.fails = () => null
    expect(await scheduleThree()).toMatchObject(Array(3).fill({ status: 'fulfilled' }))
  },
)

test('what may be the fault of one call is tried with each by itself', async () => {
  const { bed, state, scheduleThree } = await failingStore()
  await bed.store.addJob(bed.job, { replace: false })
  const before = state.transactions
  state.fails = () => (state.transactions === before + 1 ? new JobPersistenceError('refused') : null)
  expect(await scheduleThree()).toMatchObject(Array(3).fill({ status: 'fulfilled' }))
  expect(state.transactions - before).toBe(4)
})
