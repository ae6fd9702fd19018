import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { builtEntry, orders, rig } from '../support/check-in-rig.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { startPostgres } from '../support/postgres-server.ts'

const patienceMs = 60_000

test('a check-in that waits for a lock leaves nothing on the server when the thread gives it up', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.remove())
  const database = await freshDatabase(server.connectionString)
  const { connectionString } = database
  await database.query('CREATE TABLE nodes (boot text)')
  await database.query("INSERT INTO nodes VALUES ('none')")
  const holder = new pg.Client({ connectionString })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE nodes')

  const { driver, observer, seen } = rig({ connectionString }, builtEntry, {
    answerWithinMs: 500,
    checkInOfStore: () => Promise.reject(new Error('the store cannot check in either')),
  })
  const usual = orders('locked')
  const checkIn = { text: 'UPDATE nodes SET boot = $1', values: ['locked'] }
  driver.start(observer, { ...usual, statements: () => ({ ...usual.statements(), checkIn }) })
  const gaveUp = (): number => seen.failures.filter((error) => String(error).includes('lock timeout')).length
  await vi.waitUntil(() => gaveUp() >= 4, { timeout: patienceMs })
  const [waiting] = await database.query(
    "SELECT CAST(count(*) AS int) AS count FROM pg_stat_activity WHERE query LIKE 'UPDATE nodes%' AND state = 'active'",
  )
  expect(waiting?.['count']).toBeLessThanOrEqual(1)

  await holder.query('COMMIT')
  const isIn = (): boolean => seen.checkIns.some(({ bootId, isOurs }) => bootId === 'locked' && isOurs)
  await vi.waitUntil(isIn, { timeout: patienceMs })
})
