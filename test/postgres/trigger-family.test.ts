import type pg from 'pg'
import { createScheduler, defineJob, GroupMatcher, JobBuilder, TriggerBuilder } from 'quartz-ts'
import { jobStoreConformance } from 'quartz-ts/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

test('tables shared with Java refuse it, because a Java node that finds it due fires nothing any more', async () => {
  const work = defineJob('work', () => {})
  const jobStore = storeIn('mixed', { locking: 'quartzLocks' })
  const options = { jobs: [work], logger: false, triggerFamilies: [slowingFamily], jobStore } as const
  await using scheduler = await createScheduler(options)
  const schedule = { firstGapMs: 60_000, growthMs: 0, repeatCount: 9, misfireInstruction: 'smart' } as const
  const trigger = TriggerBuilder.newTrigger().withSchedule(slowingSchedule(schedule)).build()
  const stored = scheduler.scheduleJob(JobBuilder.newJob(work).build(), trigger)
  await expect(stored).rejects.toMatchObject({ code: 'ERR_NOT_SUPPORTED', field: 'type' })
  expect(await scheduler.getTriggerKeys(GroupMatcher.anyGroup())).toEqual([])
})
