import type pg from 'pg'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'
import { jobStoreConformance } from 'quartz-ts/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import {
  type PostgresJobStoreOptions,
  resolvePostgresOptions,
} from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { freshDatabase, schemaOfCase, type TestDatabase, testPool } from '../support/postgres-database.ts'
import { slowingFamily, slowingSchedule, slowingTriggers } from '../support/slowing-trigger.ts'
import { postgresStores } from '../support/sql-stores.ts'
import { triggerFamilyCases } from '../support/trigger-family-cases.ts'

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await freshDatabase()
  pool = testPool({ connectionString: database.connectionString, max: 10 })
  // The database is dropped while the last of its sessions end.
  pool.on('error', () => {})
})
afterAll(async () => {
  await pool.end()
  await database[Symbol.asyncDispose]()
})

function storeIn(schema: string, options: PostgresJobStoreOptions = {}): SqlJobStore {
  return new SqlJobStore(postgresEngine(resolvePostgresOptions({ pool, schema, ...options })))
}

describe('a trigger of another family in PostgreSQL', () => {
  triggerFamilyCases(postgresStores())
})

describe('PostgresJobStore conforms with triggers of another family', () => {
  const cases = jobStoreConformance({
    name: 'slowing',
    create: (dataId) => storeIn(schemaOfCase('slowing', dataId)),
    destroy: (dataId) => database.emptySchema(schemaOfCase('slowing', dataId)),
    triggers: slowingTriggers,
    capabilities: {
      persistent: true,
      clustered: true,
      firesAtOnce: true,
      firesOnSchedule: true,
      sharding: true,
    },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

test('beside Java, a node without the family leaves its triggers to other nodes', async () => {
  const work = defineJob('work', ({ triggerKey: { name } }) => ran.push(name))
  const ran: string[] = []
  const options = { jobs: [work], logger: false, idleWaitMs: 1000 } as const
  const jobStore = (): SqlJobStore => storeIn('mixed', { locking: 'quartzLocks' })
  const schedule = { firstGapMs: 60_000, growthMs: 0, repeatCount: 9, misfireInstruction: 'smart' } as const
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity('s')
    .withSchedule(slowingSchedule(schedule))
    .build()
  const families = { triggerFamilies: [slowingFamily] }
  await using knowing = await createScheduler({ ...options, ...families, jobStore: jobStore() })
  await knowing.scheduleJob(JobBuilder.newJob(work).build(), trigger)
  await using without = await createScheduler({ ...options, jobStore: jobStore() })
  const errors: string[] = []
  without.events.on('schedulerError', ({ error }) => errors.push(error.message))
  await without.start()
  await vi.waitUntil(() => errors.length > 0, { timeout: 30_000 })
  expect(errors.join()).toContain('its type SLOWING is not known to this node')
  expect(await without.getTriggerState(trigger.key)).toBe('NORMAL')
  expect(ran).toEqual([])
  await knowing.start()
  await vi.waitUntil(() => ran.length > 0, { timeout: 30_000 })
  expect(ran).toEqual(['s'])
})
