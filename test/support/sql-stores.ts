import { join } from 'node:path'
import type { ClientConfig } from 'pg'
import type { JobStore } from 'quartz-ts/spi'
import { type SqliteJobStoreOptions, sqliteJobStore } from 'quartz-ts/sqlite'
import { afterAll, beforeAll } from 'vitest'
import { postgresEngine } from '../../src/jobstore/postgres/postgres-engine.ts'
import {
  type PostgresJobStoreOptions,
  resolvePostgresOptions,
} from '../../src/jobstore/postgres/postgres-options.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { freshDatabase, type TestDatabase } from './postgres-database.ts'
import { temporaryFolder } from './sqlite.ts'

/** Options that both stores have. */
export type CommonOptions = Pick<
  SqliteJobStoreOptions & PostgresJobStoreOptions,
  'history' | 'jobGroupLimits'
>

/** Makes stores over data of one test; the first call in a test finds them empty. */
export interface StoreMaker {
  readonly engine: 'SQLite' | 'PostgreSQL'
  /** A function that makes stores over the same data. */
  prepare(): Promise<(options?: CommonOptions) => JobStore>
}

export const sqliteStores: StoreMaker = {
  engine: 'SQLite',
  prepare() {
    const filename = join(temporaryFolder(), 'jobs.db')
    return Promise.resolve((options = {}) => sqliteJobStore({ filename, ...options }))
  },
}

export interface PostgresStores extends StoreMaker {
  readonly database: () => TestDatabase
  readonly connection: () => ClientConfig
  /** The schema of the data that were prepared last. */
  readonly lastSchema: () => string
  prepare(): Promise<(options?: Omit<PostgresJobStoreOptions, 'pool' | 'connectionString'>) => JobStore>
}

/** To be called at the top of a file of the project `postgres`. */
export function postgresStores(encoding: string | null = null): PostgresStores {
  let database: TestDatabase | null = null
  let schemas = 0
  const made = (): TestDatabase => {
    if (database === null) throw new Error('the database is made before all tests')
    return database
  }
  const connection = (): ClientConfig => ({ connectionString: made().connectionString })
  beforeAll(async () => {
    database = await freshDatabase(undefined, encoding)
  })
  afterAll(async () => {
    await database?.[Symbol.asyncDispose]()
  })
  return {
    engine: 'PostgreSQL',
    database: made,
    connection,
    lastSchema: () => `s${schemas - 1}`,
    prepare() {
      const schema = `s${schemas++}`
      return Promise.resolve((options = {}) => {
        const resolved = resolvePostgresOptions({ connection: connection(), schema, poolSize: 4, ...options })
        return new SqlJobStore(postgresEngine(resolved))
      })
    },
  }
}
