import { expect, onTestFinished, test } from 'vitest'
import type { SqlRunner, TransactionOptions } from '../../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlProgram } from '../../../src/jobstore/sql/kernel/statement.ts'
import { SqlJobStore } from '../../../src/jobstore/sql/sql-job-store.ts'
import { sqliteEngine } from '../../../src/jobstore/sqlite/sqlite-engine.ts'
import { resolveSqliteOptions } from '../../../src/jobstore/sqlite/sqlite-options.ts'
import { completionOf, Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { withTransactions } from '../../support/wrapped-engine.ts'

type Crash = 'after the commit' | 'before the commit'

const undone = new Error('The server has crashed.')

function* undoing<Answer>(program: SqlProgram<Answer>, keep: (answer: Answer) => void): SqlProgram<never> {
  keep(yield* program)
  throw undone
}

/** As an engine whose server crashes while a transaction is committed: nobody can tell whether it was. */
async function crashing<Answer>(
  inner: SqlRunner,
  crash: Crash,
  begin: () => SqlProgram<Answer>,
  options: TransactionOptions<Answer>,
): Promise<Answer> {
  let answer!: Answer
  if (crash === 'after the commit') answer = await inner.transact(begin, options)
  else {
    const attempt = inner.transact(
      () =>
        undoing(begin(), (computed) => {
          answer = computed
        }),
      { lock: options.lock },
    )
    await expect(attempt).rejects.toBe(undone)
  }
  const { wasCommitted } = options
  const isCommitted =
    typeof wasCommitted === 'function' &&
    (await inner.transact<boolean | null>(() => wasCommitted(answer), { lock: 'none' }))
  return isCommitted === true ? answer : inner.transact(begin, options)
}

/** A store whose transactions are in doubt while `crash` says so, and the patience of the last one. */
async function open() {
  const state: { crash: Crash | null; onDoubt?: TransactionOptions['onDoubt'] } = { crash: null }
  const engine = withTransactions(
    sqliteEngine(resolveSqliteOptions({ filename: ':memory:' })),
    (inner) => (begin, options) => {
      if (state.crash === null) return inner.transact(begin, options)
      state.onDoubt = options.onDoubt
      return crashing(inner, state.crash, begin, options)
    },
  )
  const bed = new Testbed(new SqlJobStore(engine), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  await bed.schedule('plain')
  await bed.schedule('remote')
  const plain = await bed.start('plain')
  const remote = await bed.start('remote')
  const awaited = {
    reference: 'run',
    note: '',
    deadlineMs: bed.now() + 60_000,
    retriesOnTimeout: false,
    beganTimeMs: bed.now(),
    bundle: remote,
  }
  await bed.store.awaitedResults?.put([awaited])
  const ends = {
    plain: completionOf(plain, 'noop'),
    remote: completionOf(remote, 'noop', { isAwaited: true }),
  }
  return { bed, state, ends }
}

const written = { locked: [], passedOver: [] }

test.each<Crash>(['after the commit', 'before the commit'])(
  'the one who ended a firing that goes on elsewhere learns so when the server crashes %s',
  async (crash) => {
    const { bed, state, ends } = await open()
    state.crash = crash
    expect(await bed.store.triggeredJobsComplete([ends.remote])).toEqual(written)
    expect(state.onDoubt).toBe('patient')
    state.crash = null
    const ended = [ends.remote]
    expect(await bed.store.triggeredJobsComplete(ended)).toEqual({ locked: [], passedOver: ended })
  },
)

test.each<Crash>(['after the commit', 'before the commit'])(
  'what ended together with it has ended too when the server crashes %s',
  async (crash) => {
    const { bed, state, ends } = await open()
    state.crash = crash
    expect(await bed.store.triggeredJobsComplete([ends.plain, ends.remote])).toEqual(written)
    state.crash = null
    const ended = [ends.plain, ends.remote]
    expect(await bed.store.triggeredJobsComplete(ended)).toEqual({ locked: [], passedOver: ended })
  },
)
