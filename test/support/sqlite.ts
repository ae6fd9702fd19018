import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { systemIds } from '../../src/core/ids.ts'
import type { JobStoreCapabilities } from '../../src/jobstore/job-store-capabilities.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import type { SchemaVocabulary } from '../../src/jobstore/sql/migrations/plan-migrations.ts'
import { sqliteDialect, sqliteSchema } from '../../src/jobstore/sqlite/sqlite-dialect.ts'
import {
  openSqlite,
  type SqliteRunner,
  type SqliteRunnerOptions,
} from '../../src/jobstore/sqlite/sqlite-runner.ts'
import { systemClock } from '../../src/time/clock.ts'

/** Whether a loop over rows has the connection for itself, as better-sqlite3 wants it; `node:sqlite` does not. */
export const locksInLoops: boolean = 'SqliteError' in Database

export const sqliteWords: SchemaVocabulary = {
  dialect: sqliteDialect,
  schema: sqliteSchema,
  names: sqlNames('test', {}),
}

/** What a SQLite store in memory can do; one on a file is persistent. */
export const sqliteCapabilities: JobStoreCapabilities = {
  persistent: false,
  clustered: false,
  history: true,
  records: true,
  firesAtOnce: true,
  firesOnSchedule: true,
  sharding: true,
  awaitedResults: true,
  changesDefinitions: true,
}

/** A folder that goes when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-sqlite-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** A runner that is closed when the test ends. */
export async function sqliteRunner(
  filename: string,
  options: Partial<SqliteRunnerOptions> = {},
): Promise<SqliteRunner> {
  const runner = await openSqlite(
    { filename, synchronous: 'normal' },
    { clock: systemClock, ids: systemIds, busyTimeoutMs: 5_000, ...options },
  )
  onTestFinished(async () => {
    await runner.close()
  })
  return runner
}
