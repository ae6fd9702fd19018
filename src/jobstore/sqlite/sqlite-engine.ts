import type { JobDataEncoding } from '../sql/job-data-text.ts'
import { type MigrateMode, migrate, requireSchema } from '../sql/migrations/migrate.ts'
import type { SqlEngine } from '../sql/sql-engine.ts'
import type { SqlNames } from '../sql/sql-names.ts'
import type { SqliteSettings } from './sqlite-database.ts'
import { sqliteDialect, sqliteSchema } from './sqlite-dialect.ts'
import { openSqlite } from './sqlite-runner.ts'

export interface SqliteEngineOptions extends SqliteSettings {
  readonly names: SqlNames
  readonly encoding: JobDataEncoding
  readonly migrate: MigrateMode
  readonly busyTimeoutMs: number
}

/** SQLite under the SQL store: one file, one node. */
export function sqliteEngine(options: SqliteEngineOptions): SqlEngine {
  const { names, encoding, busyTimeoutMs } = options
  return {
    name: 'SqliteJobStore',
    capabilities: { persistent: options.filename !== ':memory:', clustered: false },
    dialect: sqliteDialect,
    names,
    encoding,
    async connect({ context: { clock, ids } }) {
      const runner = await openSqlite(options, { clock, ids, busyTimeoutMs })
      const schema = { dialect: sqliteDialect, schema: sqliteSchema, names }
      try {
        if (options.migrate === 'onStart') await migrate(runner, schema, clock.now())
        else await requireSchema(runner, schema)
      } catch (error) {
        await runner.close()
        throw error
      }
      return {
        runner,
        start: () => Promise.resolve(),
        wakePeers: () => {},
        close: () => runner.close(),
      }
    },
  }
}
