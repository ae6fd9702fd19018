import type pg from 'pg'
import { JobPersistenceError } from '../../core/errors.ts'
import { needs, requireFrom } from '../../core/package-files.ts'
import type { PostgresConnection, PostgresPool } from './postgres-source.ts'

/**
 * The package pg, an optional peer. Loaded when a store is used, so that a missing package is a clear error.
 *
 * @throws JobPersistenceError ERR_DRIVER_MISSING
 */
export function postgresDriver(): typeof pg {
  try {
    return requireFrom(import.meta.url)('pg') as typeof pg
  } catch (cause) {
    throw new JobPersistenceError(`The PostgreSQL job store ${needs('pg', cause)}`, {
      code: 'ERR_DRIVER_MISSING',
      cause,
    })
  }
}

/** The user's pool or connection options with pg's own types, of which this library's types are a part. */
export function pgSource(source: PostgresPool | PostgresConnection): pg.Pool | pg.ClientConfig {
  return source as pg.Pool | pg.ClientConfig
}

interface Socket {
  destroy(): void
  unref(): void
}

function socketOf(client: pg.ClientBase): Socket | undefined {
  return (client as unknown as { connection?: { stream?: Socket } }).connection?.stream
}

/** Closes the socket: connecting and every query fail at once. The client's `error` event must have a listener. */
export function cutConnection(client: pg.ClientBase): void {
  socketOf(client)?.destroy()
}

/** From now on the socket does not keep the process alive. */
export function unrefConnection(client: pg.ClientBase): void {
  socketOf(client)?.unref()
}

/** Disconnects without waiting for a server that may not answer. */
export async function disconnect(client: pg.Client): Promise<void> {
  // Further errors of this connection do not matter, but an `error` event without a listener ends the process.
  client.on('error', () => {})
  const ended = client.end().catch(() => {})
  cutConnection(client)
  await ended
}
