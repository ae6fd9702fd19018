import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase extends AsyncDisposable {
  readonly connectionString: string
  /** Runs one statement on a connection of its own. */
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Empties the tables of a schema, on a connection that is kept: a new one would have to learn all tables first. */
  emptySchema(schema: string): Promise<void>
}

/** An empty database on the shared server (or on the given one), dropped when it is disposed of. */
export async function freshDatabase(
  serverUrl: string = inject('postgresUrl'),
  encoding: string | null = null,
): Promise<TestDatabase> {
  const name = `quartz_ts_${randomBytes(6).toString('hex')}`
  const own = encoding === null ? '' : `ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`
  await queryOnce(serverUrl, `CREATE DATABASE ${name} ${own}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  let emptying: SchemaEmptying | null = null
  return {
    emptySchema: (schema) => (emptying ??= new SchemaEmptying(url.href)).empty(schema),
    connectionString: url.href,
    query: (text, values) => queryOnce(url.href, text, values),
    [Symbol.asyncDispose]: async () => {
      await emptying?.end()
      await queryOnce(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/**
 * A pool of a user. Its `end` does not wait for the server, so that dropping the database may break a connection that
 * ends.
 */
export function testPool(options: pg.PoolConfig & { readonly pipeline?: boolean }): pg.Pool {
  return new pg.Pool(options).on('error', () => {})
}

/** Statements that delete all rows of tables, in any order: foreign keys are not looked at. */
function deleteAll(tables: readonly string[]): string {
  const deletes = tables.map((name) => `DELETE FROM ${name}`)
  return ['BEGIN', 'SET LOCAL session_replication_role = replica', ...deletes, 'COMMIT'].join('; ')
}

/** Making the tables takes longer than a case of the suite does, so cases share two sets of them: one is in use. */
export function schemaOfCase(name: string, dataId: string): string {
  return dataId.endsWith('-raw') ? `${name}_raw` : name
}

class SchemaEmptying {
  readonly #client: pg.Client
  readonly #connected: Promise<unknown>

  constructor(connectionString: string) {
    this.#client = new pg.Client({ connectionString })
    this.#connected = this.#client.connect()
  }

  /** The tables hold few rows: deleting them is faster than TRUNCATE, which gives each table and index a new file. */
  async empty(schema: string): Promise<void> {
    await this.#connected
    const { rows } = await this.#client.query<{ name: string }>(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables
        WHERE schemaname = $1 AND tablename NOT LIKE '%schema_version'`,
      [schema],
    )
    if (rows.length > 0) await this.#client.query(deleteAll(rows.map(({ name }) => name)))
  }

  async end(): Promise<void> {
    await this.#connected
    await this.#client.end()
  }
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
