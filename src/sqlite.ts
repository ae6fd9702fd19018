/** Jobs and triggers in a SQLite file; needs the package better-sqlite3 or Node.js 22.16. */

export type { LockHolder, LockWait } from './jobstore/lock-wait.ts'
export type {
  AuditOptions,
  ExecutionLogOptions,
  HistoryOptions,
  JobStatusOptions,
  MisfireOptions,
  RecordOptions,
} from './jobstore/record-options.ts'
export type { DatabaseJobStore } from './jobstore/sql/database-job-store.ts'
export type { MigrateMode } from './jobstore/sql/migrations/migrate.ts'
export type { JobDataEncoding } from './jobstore/sql/tables/encoding/job-data-text.ts'
export type { SqliteDatabase, SqliteStatement } from './jobstore/sqlite/sqlite-database.ts'
export { sqliteDialect, sqliteSchema } from './jobstore/sqlite/sqlite-dialect.ts'
export { sqliteJobStore } from './jobstore/sqlite/sqlite-job-store.ts'
export type { SqliteJobStoreOptions } from './jobstore/sqlite/sqlite-options.ts'
