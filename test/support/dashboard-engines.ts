import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { postgresJobStore } from '../../src/jobstore/postgres/postgres-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from './browser-suite.ts'
import type { TestBrowser } from './chromium.ts'
import { freshDatabase } from './postgres-database.ts'

export interface EngineStore extends AsyncDisposable {
  readonly store: JobStore
}

/** A store on a database of its own, which goes when this is disposed of. It remembers all executions. */
export type NewEngineStore = () => Promise<EngineStore>

const history = { record: 'all' } as const

const engines: readonly (readonly [name: string, newStore: NewEngineStore])[] = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
]

async function onSqlite(): Promise<EngineStore> {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-dashboard-'))
  return {
    store: sqliteJobStore({ filename: join(folder, 'jobs.db'), history }),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function onPostgres(): Promise<EngineStore> {
  const database = await freshDatabase()
  const { connectionString } = database
  return {
    store: postgresJobStore({ connectionString, history }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

/** Tests in a browser of what a page does to a scheduler: the same ones on each database. */
export function inBrowserOnEngines(
  name: string,
  tests: (browser: () => TestBrowser, newStore: NewEngineStore) => void,
): void {
  inBrowser(name, (browser) => {
    describe.each(engines)('on %s', (_, newStore) => {
      tests(browser, newStore)
    })
  })
}
