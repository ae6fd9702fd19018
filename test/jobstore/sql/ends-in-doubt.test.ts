import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
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
  { crash, meanwhile }: { readonly crash: Crash; readonly meanwhile: () => Promise<void> },
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
  await meanwhile()
  const { wasCommitted } = options
  const isCommitted =
    typeof wasCommitted === 'function' &&
    (await inner.transact<boolean | null>(() => wasCommitted(answer), { lock: 'none' }))
  return isCommitted === true ? answer : inner.transact(begin, options)
}

/** A store whose next transaction is in doubt when `crash` says so, and the patience of that one. */
async function open() {
  const state: {
    crash: Crash | null
    onDoubt?: TransactionOptions['onDoubt']
    /** What another node does before this one can look. */
    meanwhile: () => Promise<void>
  } = { crash: null, meanwhile: () => Promise.resolve() }
  const engine = withTransactions(
    sqliteEngine(resolveSqliteOptions({ filename: ':memory:' })),
    (inner) => (begin, options) => {
      const { crash, meanwhile } = state
      if (crash === null) return inner.transact(begin, options)
      state.crash = null
      state.onDoubt = options.onDoubt
      return crashing(inner, { crash, meanwhile }, begin, options)
    },
  )
  const bed = new Testbed(new SqlJobStore(engine), new ManualClock(), 'node')
  const warned: object[] = []
  const logger = { ...silentLogger, warn: (fields: object) => warned.push(fields) }
  await bed.store.initialize({ ...bed.context, logger })
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
  const { fireInstanceId } = remote
  return { bed, state, ends, warned, untold: { triggerKey: 'DEFAULT.remote', fireInstanceId } }
}

const written = { locked: [], passedOver: [] }

test('what a crash undid is written again with what ended together, and counts', async () => {
  const { bed, state, ends, warned } = await open()
  state.crash = 'before the commit'
  expect(await bed.store.triggeredJobsComplete([ends.plain, ends.remote])).toEqual(written)
  expect(state.onDoubt).toBe('patient')
  expect(warned).toEqual([])
  const ended = [ends.plain, ends.remote]
  expect(await bed.store.triggeredJobsComplete(ended)).toEqual({ locked: [], passedOver: ended })
})

test('of two that end a firing while the server crashes, the one whose end was undone is passed over', async () => {
  const { bed, state, ends, warned, untold } = await open()
  state.crash = 'before the commit'
  const other = { ...ends.remote }
  state.meanwhile = async () => {
    expect(await bed.store.triggeredJobsComplete([other])).toEqual(written)
  }
  const answer = await bed.store.triggeredJobsComplete([ends.plain, ends.remote])
  expect(answer).toEqual({ locked: [], passedOver: [ends.remote] })
  expect(warned).toEqual([untold])
})

test('where nothing tells who has ended a firing, it is passed over, and the log says so', async () => {
  const { bed, state, ends, warned, untold } = await open()
  state.crash = 'after the commit'
  const ended = [ends.plain, ends.remote]
  expect(await bed.store.triggeredJobsComplete(ended)).toEqual({ locked: [], passedOver: ended })
  expect(warned).toEqual([untold])
  expect(await bed.store.awaitedResults?.find(['run'])).toEqual([])
})
