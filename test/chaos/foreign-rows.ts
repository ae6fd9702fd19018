import pg from 'pg'

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
    await this.#stored(
      [
        job(`'unknown-' || i, 'junk', 'unknown.Type' || i`, count),
        trigger(`'unknown-' || i, 'junk', 'unknown-' || i, 'junk', 'SIMPLE', NULL, 0, NULL`, count),
        `INSERT INTO qrtz_simple_triggers (sched_name, trigger_name, trigger_group, repeat_count, repeat_interval,
           times_triggered) SELECT 'chaos', 'unknown-' || i, 'junk', 0, 0, 0 FROM generate_series(1, ${String(count)}) i`,
      ],
      during,
    )
  }

  /** Due triggers that cannot be read, each for another reason; they are taken away afterwards. */
  async junk(during: () => Promise<void>): Promise<void> {
    const one = (fields: string): string => trigger(fields, 1)
    await this.#stored(
      [
        job(`'junk', 'junk', 'work'`, 1),
        job(`' ', 'junk', 'work'`, 1),
        one(`' ', 'junk', 'junk', 'junk', 'SIMPLE', NULL, 0, NULL`),
        one(`'blank job', 'junk', ' ', 'junk', 'SIMPLE', NULL, 0, NULL`),
        one(`'no sub-row', 'junk', 'junk', 'junk', 'CRON', NULL, 0, NULL`),
        one(`'no such type', 'junk', 'junk', 'junk', 'NONSENSE', NULL, 0, NULL`),
        one(`'no calendar', 'junk', 'junk', 'junk', 'SIMPLE', 'there is none', 0, NULL`),
        one(`'misfire', 'junk', 'junk', 'junk', 'SIMPLE', NULL, 99, NULL`),
        one(`'data', 'junk', 'junk', 'junk', 'SIMPLE', NULL, 0, '\\xdeadbeef'::bytea`),
        one(`'cron', 'junk', 'junk', 'junk', 'CRON', NULL, 0, NULL`),
        `INSERT INTO qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id)
           VALUES ('chaos', 'cron', 'junk', 'at noon, mostly', 'Atlantis/Poseidonis')`,
      ],
      during,
    )
  }

  async #stored(statements: readonly string[], during: () => Promise<void>): Promise<void> {
    await this.#connected(async (client) => {
      for (const statement of statements) await client.query(statement)
      await during()
      for (const table of ['fired_triggers', 'simple_triggers', 'cron_triggers', 'triggers']) {
        await client.query(`DELETE FROM qrtz_${table} WHERE trigger_group = 'junk'`)
      }
      await client.query(`DELETE FROM qrtz_job_details WHERE job_group = 'junk'`)
    })
  }

  async #connected(act: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: this.#connectionString })
    await client.connect()
    try {
      await act(client)
    } finally {
      await client.end()
    }
  }
}

function job(values: string, count: number): string {
  return `INSERT INTO qrtz_job_details (sched_name, job_name, job_group, job_class_name, is_durable, is_nonconcurrent,
      is_update_data, requests_recovery)
    SELECT 'chaos', ${values}, true, false, false, false FROM generate_series(1, ${String(count)}) i`
}

/** A trigger that has been due for a second, more urgent than all others. */
function trigger(values: string, count: number): string {
  const dueMs = String(Date.now() - 1000)
  return `INSERT INTO qrtz_triggers (sched_name, next_fire_time, start_time, priority, trigger_state, trigger_name,
      trigger_group, job_name, job_group, trigger_type, calendar_name, misfire_instr, job_data)
    SELECT 'chaos', ${dueMs}, ${dueMs}, 10, 'WAITING', ${values} FROM generate_series(1, ${String(count)}) i`
}
