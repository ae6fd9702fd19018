import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase extends AsyncDisposable {
  readonly connectionString: string
  /** Runs one statement on a connection of its own. */
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
}

/** An empty database on the shared server (or on the given one), dropped when it is disposed of. */
export async function freshDatabase(serverUrl: string = inject('postgresUrl')): Promise<TestDatabase> {
  const name = `quartz_ts_${randomBytes(6).toString('hex')}`
  await queryOnce(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    connectionString: url.href,
    query: (text, values) => queryOnce(url.href, text, values),
    [Symbol.asyncDispose]: async () => {
      await queryOnce(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** Statements that delete all rows of tables, in any order: foreign keys are not looked at. */
export function deleteAll(tables: readonly string[]): string {
  const deletes = tables.map((name) => `DELETE FROM ${name}`)
  return ['BEGIN', 'SET LOCAL session_replication_role = replica', ...deletes, 'COMMIT'].join('; ')
}

/** Making the tables takes longer than a case of the suite does, so cases share two sets of them: one is in use. */
export function schemaOfCase(name: string, dataId: string): string {
  return dataId.endsWith('-raw') ? `${name}_raw` : name
}

/**
 * Empties the tables of a schema. They hold few rows: deleting them is faster than TRUNCATE, which gives each table and
 * each index a new file.
 */
export async function emptySchema(database: TestDatabase, schema: string): Promise<void> {
  const rows = await database.query(
    `SELECT schemaname || '.' || tablename AS name FROM pg_tables
      WHERE schemaname = $1 AND tablename NOT LIKE '%schema_version'`,
    [schema],
  )
  if (rows.length > 0) await database.query(deleteAll(rows.map(({ name }) => String(name))))
}

async function queryOnce(
  connectionString: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  // A session that is ended from outside fails its query; that it ends is no news beside that.
  client.on('error', () => {})
  await client.connect()
  try {
    // Without values it may be several statements; the rows are those of the last.
    const result = await client.query<Record<string, unknown>>(
      text,
      values.length === 0 ? undefined : [...values],
    )
    return [result].flat().at(-1)?.rows ?? []
  } finally {
    await client.end()
  }
}
