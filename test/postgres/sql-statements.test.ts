import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import type { AcquiredAndFired } from '../../src/jobstore/job-store.ts'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import type { SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import { completionOf } from '../../src/testing/job-store/testbed.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { statementCountCases } from '../support/statement-counts.ts'
import {
  type FaultRig,
  faultRig,
  passingFaultCases,
  statementFaultCases,
} from '../support/statement-faults.ts'
import { strictJob } from '../support/store-operations.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.query(`CREATE TABLE commit_fault (id int)`)
  await database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the commit is refused' USING ERRCODE = '40001'; END $$`)
  await database.query(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON commit_fault
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
})
afterAll(() => database[Symbol.asyncDispose]())

/** Making the tables takes longer than a case does, so cases share them: one at a time is in use. */
async function emptyEngine(connectionString = database.connectionString): Promise<SqlEngine> {
  await database.emptySchema('public')
  return postgresEngine(resolvePostgresOptions({ connectionString, poolSize: 2, listen: false }))
}

const raise = (sqlState: string): SqlStatement => ({
  text: `DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '${sqlState}'; END $$`,
  values: [],
})
const lasting = raise('XX000')

statementCountCases(emptyEngine)
statementFaultCases(emptyEngine, lasting)
passingFaultCases(emptyEngine, {
  // A deadlock and a serialization failure.
  passing: [raise('40P01'), raise('40001')],
  lasting,
})

interface Once {
  readonly name: string
  /** Answers the call, and what must be true of its answer and of the store when it was carried out once. */
  readonly prepare: (rig: FaultRig) => Promise<{ call: () => Promise<unknown>; check: Check }>
}
type Check = (answer: unknown) => Promise<void>

const firedRows = async (): Promise<unknown[]> =>
  (await database.query('SELECT entry_id, state FROM qrtz_fired_triggers ORDER BY entry_id')).map(
    ({ entry_id, state }) => `${String(entry_id)} ${String(state)}`,
  )

const onceOnly: readonly Once[] = [
  {
    name: 'acquireNextTriggers',
    prepare: async ({ scene: { bed } }) => {
      await bed.schedule('a')
      await bed.schedule('b')
      return {
        call: () => bed.acquire(),
        check: async (answer) => {
          const ids = (answer as readonly { fireInstanceId: string }[]).map((claim) => claim.fireInstanceId)
          expect(ids).toHaveLength(2)
          expect(await firedRows()).toEqual(ids.sort().map((id) => `${id} ACQUIRED`))
        },
      }
    },
  },
  {
    name: 'acquireAndFire',
    prepare: async ({ scene: { bed } }) => {
      await bed.schedule('a', { everyMs: 1000 })
      return {
        call: () => bed.acquireAndFire(),
        check: async (answer) => {
          const { fired } = answer as AcquiredAndFired
          expect(await firedRows()).toEqual(fired.map(({ fireInstanceId }) => `${fireInstanceId} EXECUTING`))
          expect(fired).toHaveLength(1)
          expect(await bed.stored('a')).toMatchObject({ timesTriggered: 1 })
        },
      }
    },
  },
  {
    name: 'triggersFired',
    prepare: async ({ scene: { bed } }) => {
      await bed.schedule('a', { everyMs: 1000 })
      const claims = await bed.acquire()
      return {
        call: () => bed.store.triggersFired(claims),
        check: async (answer) => {
          expect(answer).toMatchObject([{ kind: 'fired' }])
          expect(await firedRows()).toEqual(claims.map((claim) => `${claim.fireInstanceId} EXECUTING`))
          expect(await bed.stored('a')).toMatchObject({
            timesTriggered: 1,
            nextFireTimeMs: bed.now() + 1000,
          })
        },
      }
    },
  },
  {
    name: 'triggeredJobsComplete',
    prepare: async ({ scene: { bed } }) => {
      await bed.schedule('a', { job: strictJob, everyMs: 1000 })
      const bundle = await bed.start('a')
      const retryTrigger = bed.trigger('again', { job: strictJob, inMs: 5000 })
      const completion = completionOf(bundle, 'noop', { jobDataMap: { n: 1 }, retryTrigger })
      return {
        call: () => bed.store.triggeredJobsComplete([completion]),
        check: async () => {
          expect(await firedRows()).toEqual([])
          expect(await bed.states('a', 'again')).toEqual(['NORMAL', 'NORMAL'])
          expect((await bed.store.getJob(strictJob.key))?.jobDataMap).toEqual({ n: 1 })
        },
      }
    },
  },
  {
    name: 'scheduleJobs',
    prepare: ({ scene: { bed } }) =>
      Promise.resolve({
        // A second run of it would be refused: the job is there.
        call: () =>
          bed.store.scheduleJobs([{ job: bed.job, triggers: [bed.trigger('a')] }], { replace: false }),
        check: async () => {
          expect(await bed.store.getTriggerState(new TriggerKey('a'))).toBe('NORMAL')
        },
      }),
  },
]

describe('a commit that fails', () => {
  test.each(onceOnly)('$name is carried out again', async ({ prepare }) => {
    await using rig = await faultRig(await emptyEngine())
    const { call, check } = await prepare(rig)
    let attempts = 0
    rig.runner.atEnd = () => {
      attempts++
      return attempts === 1 ? { text: 'INSERT INTO commit_fault VALUES (1)', values: [] } : null
    }
    const answer = await rig.runner.watch(call)
    rig.runner.atEnd = null
    expect(attempts).toBe(2)
    await check(answer)
  })
})

describe('a commit that was done while its answer was lost', () => {
  test.each(onceOnly)('$name is carried out once and answers right', async ({ prepare }) => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    await using rig = await faultRig(await emptyEngine(proxy.through(database.connectionString)))
    const { call, check } = await prepare(rig)
    let attempts = 0
    rig.runner.atEnd = () => {
      attempts++
      return null
    }
    const cut = proxy.cutOn('COMMIT\0', 'after')
    const answer = await rig.runner.watch(call)
    await cut
    rig.runner.atEnd = null
    expect(attempts).toBe(1)
    await check(answer)
  })
})
