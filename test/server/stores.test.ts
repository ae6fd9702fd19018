import { join } from 'node:path'
import { test } from 'vitest'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { attachesTo, servesStore } from '../support/server-stores.ts'
import { temporaryFolder } from '../support/sqlite.ts'

test('serves a scheduler in memory', async () => {
  await servesStore(new RAMJobStore({ history: { record: 'all' } }))
})

test('serves a scheduler on a SQLite file', async () => {
  await servesStore(
    sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db'), history: { record: 'all' } }),
  )
})

test('is attached to a SQLite file from which another scheduler fires', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  await attachesTo(() => sqliteJobStore({ filename }))
})
