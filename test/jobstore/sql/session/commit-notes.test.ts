import { describe, expect, onTestFinished, test } from 'vitest'
import type { SqlRunner } from '../../../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlSession } from '../../../../src/jobstore/sql/session/sql-session.ts'
import { SqlTransactions } from '../../../../src/jobstore/sql/session/sql-transactions.ts'
import type { SqlEngine } from '../../../../src/jobstore/sql/sql-engine.ts'
import { SqlJobStore } from '../../../../src/jobstore/sql/sql-job-store.ts'
import { sqliteEngine } from '../../../../src/jobstore/sqlite/sqlite-engine.ts'
import { resolveSqliteOptions } from '../../../../src/jobstore/sqlite/sqlite-options.ts'
import { jobDetail, namesOf, only, Testbed } from '../../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../../src/time/manual-clock.ts'

interface Rig {
  readonly bed: Testbed
  readonly session: SqlSession
  readonly transactions: SqlTransactions
  /** What the node remembered at the end of the attempt that was given up. */
  readonly seen: string[]
}

/** A store each transaction of which is given up once at its very end, and run again. */
async function givenUpOnce(look: (session: SqlSession) => string = () => ''): Promise<Rig> {
  const engine = sqliteEngine(resolveSqliteOptions({ filename: ':memory:' }))
  const seen: string[] = []
  const opened: { readonly session: SqlSession; readonly runner: SqlRunner }[] = []
  const faulty: SqlEngine = {
    ...engine,
    async connect(session) {
      const connection = await engine.connect(session)
      const runner = retrying(connection.runner, () => seen.push(look(session)))
      opened.push({ session, runner })
      return { ...connection, runner }
    },
  }
  const bed = new Testbed(new SqlJobStore(faulty), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  const { session, runner } = only(opened)
  return { bed, session, seen, transactions: new SqlTransactions(session, runner, { wakePeers: () => {} }) }
}

function retrying(inner: SqlRunner, onGivenUp: () => void): SqlRunner {
  return {
    read: (begin) => inner.read(begin),
    close: () => inner.close(),
    async transact(begin, options) {
      const givenUp = inner.transact(function* () {
        yield* begin()
        onGivenUp()
        throw new Error('given up')
      }, options)
      await expect(givenUp).rejects.toThrow('given up')
      return inner.transact(begin, options)
    },
  }
}

describe('what a node is to remember of a transaction', () => {
  test('is remembered once, and not before the attempt that noted it is committed', async () => {
    const { transactions, seen } = await givenUpOnce(() => remembered.join())
    const remembered: string[] = []
    let attempts = 0
    await transactions.run(
      // biome-ignore lint/correctness/useYield: a program may need no statement
      function* (tx) {
        const attempt = `attempt ${++attempts}`
        tx.notes.add(() => remembered.push(attempt))
      },
      { lock: 'rows' },
    )
    expect(seen).toEqual([''])
    expect(remembered).toEqual(['attempt 2'])
  })

  test('holds job types that a search met and does not know only after its commit', async () => {
    const { bed, session, seen } = await givenUpOnce(({ searchMemory }) =>
      [...searchMemory.unknownJobTypes].join(),
    )
    const strange = jobDetail('strange', { jobType: 'strange' })
    await bed.schedule('s', { job: strange })
    await bed.schedule('t')
    seen.length = 0
    bed.unknownJobTypes.add('strange')
    expect(namesOf((await bed.acquireAndFire()).fired)).toEqual(['t'])
    expect(seen).toEqual([''])
    expect([...session.searchMemory.unknownJobTypes]).toEqual(['strange'])
  })

  test('decides by the committed attempt whether a commit may be lost', async () => {
    const { bed } = await givenUpOnce()
    await bed.schedule('t')
    expect(namesOf((await bed.acquireAndFire()).fired)).toEqual(['t'])
    expect(await bed.acquireAndFire()).toEqual({ fired: [], acquired: [] })
  })
})
