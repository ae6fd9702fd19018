import { join } from 'node:path'
import { test } from 'vitest'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { throwJunk } from '../support/server-fuzz.ts'
import { temporaryFolder } from '../support/sqlite.ts'

test('no junk makes a failure of a server on a store in memory', async () => {
  await throwJunk(new RAMJobStore(), 1500)
})

test('no junk makes a failure of a server on a SQLite file', async () => {
  await throwJunk(sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db') }), 800)
})
