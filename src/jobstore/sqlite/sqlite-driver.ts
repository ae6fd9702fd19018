import { JobPersistenceError } from '../../core/errors.ts'
import { couldNotBeLoaded, inBundle, isNotInstalled } from '../../core/package-files.ts'
import { type Runtime, runtimeOf } from '../../core/runtime.ts'
import { checkpointPages } from './full-disk.ts'
import { loadNodeSqlite, type NodeSqlite, NodeSqliteDatabase } from './node-sqlite.ts'
import {
  blockedAtOnceMs,
  type SqliteDatabase,
  type SqliteDriver,
  type SqliteDriverName,
  type SqliteSettings,
} from './sqlite-database.ts'

type Connect = (filename: string, options: { readonly fileMustExist: boolean }) => SqliteDatabase

/**
 * Loads better-sqlite3, which is an optional peer, or `node:sqlite`.
 *
 * @throws JobPersistenceError ERR_DRIVER_MISSING
 */
export async function loadSqliteDriver(name: SqliteDriverName | null = null): Promise<SqliteDriver> {
  const connect = await loadConnect(name)
  return {
    open(settings, create) {
      const { filename } = settings
      const database = connect(filename, { fileMustExist: !create && filename !== ':memory:' })
      try {
        setUp(database, settings)
      } catch (error) {
        database.close()
        throw error
      }
      return database
    },
  }
}

async function loadConnect(name: SqliteDriverName | null): Promise<Connect> {
  const ofNode = async (): Promise<Connect | null> => {
    const loaded = await loadNodeSqlite()
    return loaded === null ? null : connectWith(loaded)
  }
  if (name === 'node:sqlite') {
    const connect = await ofNode()
    if (connect === null) throw nodeSqliteMissing()
    return connect
  }
  try {
    return await loadBetterSqlite()
  } catch (error) {
    const connect = name === null ? await ofNode() : null
    if (connect === null) throw error
    return connect
  }
}

function connectWith(loaded: NodeSqlite): Connect {
  return (filename, options) => new NodeSqliteDatabase(loaded, filename, options)
}

async function loadBetterSqlite(): Promise<Connect> {
  try {
    const { default: Database } = await import('better-sqlite3')
    // The addon itself is loaded by the first connection.
    new Database(':memory:').close()
    return (filename, options) => new Database(filename, { timeout: blockedAtOnceMs, ...options })
  } catch (error) {
    throw driverMissing(driverProblemOf(error), error)
  }
}

function setUp(database: SqliteDatabase, { filename, synchronous }: SqliteSettings): void {
  // Readers do not wait for the writer, and a commit is one write to one file. Memory keeps its own mode.
  database.pragma(`busy_timeout = ${blockedAtOnceMs}`)
  database.pragma('journal_mode = WAL')
  database.pragma(`synchronous = ${synchronous}`)
  database.pragma('foreign_keys = ON')
  database.pragma(`wal_autocheckpoint = ${checkpointPages(database, filename)}`)
  // Twice what that may be. A log that had to grow, as beside a reader that took long, is cut when SQLite begins it
  // anew, and would keep its size for ever otherwise.
  database.pragma('journal_size_limit = 67108864')
}

function nodeSqliteMissing(): JobPersistenceError {
  return new JobPersistenceError(
    "The SQLite job store cannot use 'node:sqlite' here: Node.js has it, as the store needs it, from 22.16 on. " +
      "Update Node.js, or use driver: 'better-sqlite3'.",
    { code: 'ERR_DRIVER_MISSING' },
  )
}

function driverMissing(problem: DriverProblem, cause: unknown): JobPersistenceError {
  return new JobPersistenceError(
    `The SQLite job store needs the package better-sqlite3, which ${driverAdvice(problem, runtimeOf())}`,
    { code: 'ERR_DRIVER_MISSING', cause },
  )
}

/** Not there, not built, or what else kept it from being loaded. */
export type DriverProblem = 'missing' | 'unbuilt' | { readonly message: string }

/** What kept the package from being loaded, by the error of doing so. */
export function driverProblemOf(error: unknown): DriverProblem {
  if (isNotInstalled('better-sqlite3', error)) return 'missing'
  if (!(error instanceof Error)) return { message: String(error) }
  const isUnbuilt =
    /bindings file|NODE_MODULE_VERSION|self-register|\.node|native addon|not yet supported in Bun/
  return isUnbuilt.test(error.message) ? 'unbuilt' : { message: error.message }
}

/** What is wrong and what to do. The package is a native addon for Node.js, which other runtimes cannot load. */
export function driverAdvice(problem: DriverProblem, runtime: Runtime): string {
  if (runtime !== 'Node.js') {
    return `${runtime} cannot load. Run this process with Node.js, or keep the jobs in PostgreSQL.`
  }
  const withoutIt = "Node.js from 22.16 on has 'node:sqlite', which needs no package; or"
  if (problem === 'missing') return `is not installed. ${withoutIt} run: npm install better-sqlite3`
  if (problem !== 'unbuilt') return couldNotBeLoaded('better-sqlite3', problem.message)
  // The addon is looked for beside the code that loads it.
  const advice = inBundle('better-sqlite3')
  return `was not built for this Node.js. ${advice} Otherwise: ${withoutIt} run: npm rebuild better-sqlite3`
}
