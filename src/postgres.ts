/** Jobs and triggers in PostgreSQL, for any number of nodes; needs the package pg. */

export type { LockHolder, LockWait } from './jobstore/lock-wait.ts'
export { postgresDialect, postgresSchema } from './jobstore/postgres/postgres-dialect.ts'
export { postgresJobStore } from './jobstore/postgres/postgres-job-store.ts'
export type { PostgresJobStoreOptions } from './jobstore/postgres/postgres-options.ts'
export type { PostgresConnection, PostgresPool } from './jobstore/postgres/postgres-source.ts'
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
