import { postgresJobStore } from 'quartz-ts/postgres'
import { test } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { throwJunk } from '../support/server-fuzz.ts'
import {
  attachesTo,
  hearsChanges,
  hearsPeers,
  saysThatRunsWait,
  servesStore,
} from '../support/server-stores.ts'

test('serves a scheduler on PostgreSQL', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  await servesStore(postgresJobStore({ connectionString, history: { record: 'all' } }))
})

test('says of a run by hand that it waits for what is paused, on PostgreSQL', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  await saysThatRunsWait(postgresJobStore({ connectionString }))
})

test('is attached to the data of a node on PostgreSQL, and is no node itself', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  await attachesTo(() => postgresJobStore({ connectionString }))
})

test('hears of what the other nodes on PostgreSQL run', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  await hearsPeers(() => postgresJobStore({ connectionString, history: { record: 'all' } }), {
    seesRunning: true,
  })
})

test('hears what the other nodes on PostgreSQL change', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  await hearsChanges(() => postgresJobStore({ connectionString }), { tellsItHears: true })
})

test('no junk makes a failure of a server on PostgreSQL', async () => {
  await using database = await freshDatabase()
  await throwJunk(postgresJobStore({ connectionString: database.connectionString }), 800)
})
