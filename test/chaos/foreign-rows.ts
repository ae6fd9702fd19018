import pg from 'pg'
import { noStrayRows, rowsOfJunk, rowsOfUnknownTypes, type StrayScope } from '../support/stray-rows.ts'

/** What other programs do to the tables of a cluster: they hold rows, and they write rows that no node understands. */
export class ForeignRows {
  readonly #connectionString: string

  constructor(connectionString: string) {
    this.#connectionString = connectionString
  }

  /**
   * Locks rows of some jobs and of their triggers in a transaction that stays open while `during` lasts, and passes it
   * the keys of these jobs as text. Jobs that exclude themselves come first: nodes need their rows most.
   */
  async locked(count: number, during: (jobs: readonly string[]) => Promise<void>): Promise<void> {
    await this.#connected(async (client) => {
      await client.query('BEGIN')
      const { rows } = await client.query<{ job_group: string; job_name: string }>(
        `SELECT job_group, job_name FROM qrtz_job_details 
           ORDER BY is_nonconcurrent DESC, random() LIMIT ${String(count)} FOR UPDATE SKIP LOCKED`,
      )
      const names = rows.map(({ job_name }) => job_name)
      await client.query('SELECT 1 FROM qrtz_triggers WHERE job_name = ANY($1) FOR UPDATE SKIP LOCKED', [
        names,
      ])
      await during(rows.map(({ job_group, job_name }) => `${job_group}.${job_name}`))
      await client.query('ROLLBACK')
    })
  }

  /** Due triggers of job types that no node has; they are taken away afterwards. */
  async unknownTypes(count: number, during: () => Promise<void>): Promise<void> {
    await this.#stored(rowsOfUnknownTypes(count, scope()), during)
  }

  /** Due triggers that cannot be read, each for another reason; they are taken away afterwards. */
  async junk(during: () => Promise<void>): Promise<void> {
    await this.#stored(
      rowsOfJunk('work', scope(), (hex) => `'\\x${hex}'::bytea`),
      during,
    )
  }

  async #stored(statements: readonly string[], during: () => Promise<void>): Promise<void> {
    await this.#connected(async (client) => {
      for (const statement of statements) await client.query(statement)
      await during()
      for (const statement of noStrayRows) await client.query(statement)
    })
  }

  async #connected(act: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: this.#connectionString })
    // A session that is ended from outside fails its next statement.
    client.on('error', () => {})
    await client.connect()
    try {
      await act(client)
    } finally {
      await client.end()
    }
  }
}

function scope(): StrayScope {
  return { schedulerName: 'chaos', dueMs: Date.now() - 1000 }
}
