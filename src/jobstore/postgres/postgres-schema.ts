import type { SchemaDialect } from '../sql/migrations/schema-dialect.ts'

export const postgresSchema: SchemaDialect = {
  // CREATE SCHEMA IF NOT EXISTS asks for the right to create schemas even when there is nothing to create.
  createSchema: (schema) =>
    `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = lower('${schema}')) ` +
    `THEN CREATE SCHEMA ${schema}; END IF; END $$`,
  columnsOf: (table) =>
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass('${table}') ` +
    'AND attnum > 0 AND NOT attisdropped',
}
