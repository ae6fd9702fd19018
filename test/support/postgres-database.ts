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
    const { rows } = await client.query<Record<string, unknown>>(text, [...values])
    return rows
  } finally {
    await client.end()
  }
}
