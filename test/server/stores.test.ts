import { join } from 'node:path'
import { test } from 'vitest'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import {
  attachesTo,
  hearsChanges,
  hearsPeers,
  saysThatRunsWait,
  servesStore,
} from '../support/server-stores.ts'
import { temporaryFolder } from '../support/sqlite.ts'

test('serves a scheduler in memory', async () => {
  await servesStore(new RAMJobStore({ history: { record: 'all' } }))
})

test('serves a scheduler on a SQLite file', async () => {
  await servesStore(
    sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db'), history: { record: 'all' } }),
  )
})

test('says of a run by hand that it waits for what is paused, in memory', async () => {
  await saysThatRunsWait(new RAMJobStore())
})

test('says of a run by hand that it waits for what is paused, on a SQLite file', async () => {
  await saysThatRunsWait(sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db') }))
})

test('is attached to a SQLite file from which another scheduler fires', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  await attachesTo(() => sqliteJobStore({ filename }))
})

test('hears of what another process runs from the same SQLite file', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const newStore = (): JobStore => sqliteJobStore({ filename, history: { record: 'all' } })
  await hearsPeers(newStore, { seesRunning: false })
})

test('hears what another process changes in the same SQLite file', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  await hearsChanges(() => sqliteJobStore({ filename }), { tellsItHears: false })
})
