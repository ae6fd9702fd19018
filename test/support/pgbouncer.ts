import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './postgres-server.ts'

const program = 'pgbouncer'

/** The version of PgBouncer on this machine, or null where it has none. */
export const pgbouncerVersion: readonly number[] | null = findVersion()

function findVersion(): readonly number[] | null {
  const { error, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  const [, major, minor] = (error === undefined && /PgBouncer (\d+)\.(\d+)/.exec(stdout)) || []
  if (major !== undefined && minor !== undefined) return [Number(major), Number(minor)]
  const text = `the tests of a transaction pooler need PgBouncer: apt-get install ${program}`
  if (process.env['QUARTZ_TS_REQUIRE_PGBOUNCER'] === '1') throw new Error(text)
  console.warn(`SKIPPED: ${text}`)
  return null
}

/** Whether it follows prepared statements from one connection to another, if it is told to. */
function knowsPreparedStatements([major = 0, minor = 0]: readonly number[]): boolean {
  return major > 1 || minor >= 21
}

export interface Pooler extends AsyncDisposable {
  /** Of the same database, through the pooler. */
  readonly connectionString: string
}

/** Starts PgBouncer, with two connections to the server, before a database. */
export async function startPooler(
  connectionString: string,
  version: readonly number[],
  mode: 'transaction' | 'statement' = 'transaction',
): Promise<Pooler> {
  const url = new URL(connectionString)
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-pgbouncer-'))
  const isRoot = process.getuid?.() === 0
  const users = join(folder, 'users.txt')
  const settings = join(folder, 'pgbouncer.ini')
  await writeFile(users, `"${url.username}" "${decodeURIComponent(url.password)}"\n`)
  await writeFile(
    settings,
    [
      '[databases]',
      `* = host=${url.hostname} port=${url.port || '5432'}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
      'default_pool_size = 2',
      ...(knowsPreparedStatements(version) ? ['max_prepared_statements = 0'] : []),
      // It refuses to run as root.
      ...(isRoot ? ['user = nobody'] : []),
    ].join('\n'),
  )
  await chmod(folder, 0o755)
  const child = spawn(program, [settings], { stdio: ['ignore', 'ignore', 'pipe'] })
  await listening(child)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    connectionString: url.href,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when it says that it is up, which it does in its log. */
async function listening({ stderr }: ChildProcess): Promise<void> {
  let log = ''
  for await (const part of stderr?.setEncoding('utf8') ?? []) {
    log += String(part)
    if (log.includes('process up')) return stderr?.resume() && undefined
  }
  throw new Error(`PgBouncer did not start:\n${log}`)
}
