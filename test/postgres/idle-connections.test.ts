import { expect, onTestFinished, test } from 'vitest'
import { systemIds } from '../../src/core/ids.ts'
import { PostgresAccess } from '../../src/jobstore/postgres/postgres-access.ts'
import { resolvePostgresOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import { systemClock } from '../../src/time/clock.ts'
import { latch } from '../support/latch.ts'
import { freshDatabase } from '../support/postgres-database.ts'

interface Rig {
  readonly access: PostgresAccess
  /** How loud each thing was told of, once there were so many. */
  readonly told: (count: number) => Promise<readonly string[]>
  /** Resolves when it listens for other nodes, the next time. */
  readonly listens: () => Promise<void>
}

function rig(
  connectionString: string,
  expected = 'an idle connection to PostgreSQL broke',
  listen = false,
): Rig {
  const levels: string[] = []
  let [wanted, enough] = [0, latch()]
  let listening = latch()
  const access = new PostgresAccess(resolvePostgresOptions({ connectionString, listen }), {
    schedulerName: 'test',
    instanceId: 'a',
    clock: systemClock,
    ids: systemIds,
    onWake: () => {
      listening.open()
      listening = latch()
    },
    onInterrupt: () => {},
    onOrder: () => {},
    onLockWait: () => {},
    onTrouble: (message, _cause, level) => {
      expect(message).toContain(expected)
      levels.push(level)
      if (levels.length === wanted) enough.open()
    },
  })
  onTestFinished(() => access.close())
  const told = async (count: number): Promise<readonly string[]> => {
    wanted = count
    enough = latch()
    if (levels.length < count) await enough.promise
    return levels
  }
  return { access, told, listens: () => listening.promise }
}

test('idle connections that break in one outage are warned of once', async () => {
  await using database = await freshDatabase()
  const { access, told } = rig(database.connectionString)
  const sessions = await Promise.all([1, 2, 3].map(() => access.connections.open(null)))
  for (const session of sessions) session.release()
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
  expect(await told(3)).toEqual(['warn', 'debug', 'debug'])
})

test('an idle connection that the server ends by its settings is no reason to warn', async () => {
  await using database = await freshDatabase()
  const name = new URL(database.connectionString).pathname.slice(1)
  await database.query(`ALTER DATABASE ${name} SET idle_session_timeout = '100ms'`)
  const { access, told } = rig(database.connectionString)
  const session = await access.connections.open(null)
  session.release()
  expect(await told(1)).toEqual(['debug'])
})

test('that other nodes cannot be woken is warned of once in an outage', async () => {
  const { access, told } = rig('postgres://127.0.0.1:1/nothing', 'other nodes could not be woken', true)
  access.wakePeers(systemClock.now())
  await told(1)
  access.wakePeers(systemClock.now())
  expect(await told(2)).toEqual(['warn', 'debug'])
})

test('that the connection which listens breaks again and again is warned of once in an outage', async () => {
  await using database = await freshDatabase()
  const expected = 'the connection that listens for other nodes broke'
  const { access, told, listens } = rig(database.connectionString, expected, true)
  let listened = listens()
  access.listen()
  for (let count = 1; count <= 3; count++) {
    await listened
    listened = listens()
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    await told(count)
  }
  expect(await told(3)).toEqual(['warn', 'debug', 'debug'])
})
