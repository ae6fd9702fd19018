import { expect, onTestFinished, test, vi } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { startPostgres } from '../support/postgres-server.ts'

const builtEntry = new URL('../../dist/jobstore/postgres/check-in-entry.js', import.meta.url)
const patienceMs = 60_000

test('a node checks in over the connections of its store while the thread gets none', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.remove())
  const own = await freshDatabase(server.connectionString)
  const failedAfterMs = 4000
  const open = async (instanceId: string, connectionString: string, seed: number): Promise<Testbed> => {
    const options = { checkInIntervalMs: 300, failedAfterMs, checkInEntry: builtEntry }
    const store = new SqlJobStore(postgresEngine(resolvePostgresOptions({ connectionString, ...options })))
    const bed = new Testbed(store, new ManualClock(systemClock.now()), instanceId)
    await store.initialize({ ...bed.context, clock: systemClock, ids: seededIds(seed) })
    onTestFinished(() => store.shutdown())
    await store.schedulerStarted()
    return bed
  }
  const watcher = await open('watcher', own.connectionString, 1)
  const role = `limited_${own.connectionString.slice(-8)}`
  await own.query(
    `CREATE ROLE ${role} LOGIN PASSWORD 'secret'; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
  )
  const url = new URL(own.connectionString)
  url.username = role
  url.password = 'secret'
  const limited = await open('limited', url.href, 2)
  // The session that holds the witness is the thread's.
  const threads = async (): Promise<unknown> => {
    const rows = await own.query(
      `SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
       WHERE l.locktype = 'advisory' AND l.mode = 'ExclusiveLock' AND a.usename = '${role}'`,
    )
    expect(rows).toHaveLength(1)
    return rows[0]?.['pid']
  }
  const thread = await vi.waitFor(threads, { timeout: patienceMs, interval: 200 })
  const checkedInMs = async (): Promise<number> => {
    const [row] = await own.query(
      `SELECT last_checkin_time AS ms FROM qrtz_scheduler_state WHERE instance_name = 'limited'`,
    )
    return Number(row?.['ms'])
  }
  await own.query(`ALTER ROLE ${role} CONNECTION LIMIT 1`)
  await own.query('SELECT pg_terminate_backend($1)', [thread])
  const cutMs = await checkedInMs()
  await vi.waitFor(
    async () => {
      expect(await checkedInMs()).toBeGreaterThan(cutMs + 1.5 * failedAfterMs)
    },
    { timeout: patienceMs, interval: 200 },
  )
  expect(watcher.signals.failedNodes).toEqual([])
  expect(limited.signals.recoveriesByPeers).toBe(0)
  // The thread goes on as soon as it can.
  await own.query(`ALTER ROLE ${role} CONNECTION LIMIT -1`)
  expect(await vi.waitFor(threads, { timeout: patienceMs, interval: 200 })).not.toBe(thread)
  expect(watcher.signals.failedNodes).toEqual([])
})
