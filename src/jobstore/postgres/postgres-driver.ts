import { createRequire } from 'node:module'
import type pg from 'pg'
import { JobPersistenceError } from '../../core/errors.ts'
import type { PostgresConnection, PostgresPool } from './postgres-source.ts'

const require = createRequire(import.meta.url)

/**
 * The package pg, which is an optional peer: loaded when a store is used, so that its absence can be told in words.
 *
 * @throws JobPersistenceError ERR_DRIVER_MISSING
 */
export function postgresDriver(): typeof pg {
  try {
    return require('pg') as typeof pg
  } catch (cause) {
    throw new JobPersistenceError('The PostgreSQL job store needs the package pg. Run: npm install pg', {
      code: 'ERR_DRIVER_MISSING',
      cause,
    })
  }
}

/** The user's pool, or how to connect, as pg knows it: our own words for it are a part of pg's. */
export function pgSource(source: PostgresPool | PostgresConnection): pg.Pool | pg.ClientConfig {
  return source as pg.Pool | pg.ClientConfig
}

/** Closes the socket: connecting and every query fail at once. The client's `error` event must have a listener. */
export function cutConnection(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
}

/** Without waiting for a server that may not answer: nothing of this connection is worth it. */
export async function disconnect(client: pg.Client): Promise<void> {
  // Whatever else breaks on this connection, nobody has to know, and an event that nobody hears ends the process.
  client.on('error', () => {})
  const ended = client.end().catch(() => {})
  cutConnection(client)
  await ended
}
