import type pg from 'pg'

/** The first key of the advisory locks of this library that are witnesses: "qts". */
const lockSpace = 0x71_74_73

/** Whatever type parsers the process has set. */
const types = { getTypeParser: () => (value: string) => value }

/**
 * The condition is false where a pooler stands between: it makes up the process id that it tells its client, and a lock
 * would belong to a session that outlives the client. Without the condition the lock would be taken all the same.
 */
const take = 'SELECT pg_try_advisory_lock($1, $2) AS is_held WHERE pg_backend_pid() = $3'

/** Holds the others' locks, shared, for this one statement only, so that lookers do not see each other. */
const look = `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now_ms,
    array_to_string(ARRAY(
      SELECT key FROM unnest(CAST($2 AS int[])) AS key WHERE pg_try_advisory_xact_lock_shared($1, key)
    ), ',') AS free
  WHERE pg_backend_pid() = $3`

interface Taken {
  readonly is_held: string
}

interface Looked {
  readonly now_ms: string
  readonly free: string
}

/** An advisory lock that the database holds for as long as this session lives. */
export class SessionWitness {
  readonly #client: pg.Client
  readonly #processId: number
  /** Witnesses that this session has seen held: those that went while it was away say nothing. */
  readonly #seen = new Set<number>()

  private constructor(client: pg.Client, processId: number) {
    this.#client = client
    this.#processId = processId
  }

  /** Null when the session is not the client's own; `busy` when another session has the lock. */
  static async take(client: pg.Client, key: number): Promise<SessionWitness | 'busy' | null> {
    const { processID: processId = null } = client as { processID?: number | null }
    if (processId === null) return null
    const values = [lockSpace, key, processId]
    const { rows } = await client.query<Taken>({ text: take, values, types })
    const [taken] = rows
    if (taken === undefined) return null
    return taken.is_held === 't' ? new SessionWitness(client, processId) : 'busy'
  }

  /** Answers which of these witnesses are gone that this session has seen held. */
  async look(keys: readonly number[]): Promise<{ readonly nowMs: number; readonly lost: readonly number[] }> {
    const values = [lockSpace, [...keys], this.#processId]
    const { rows } = await this.#client.query<Looked>({
      name: 'quartz-ts witnesses',
      text: look,
      values,
      types,
    })
    const [looked] = rows
    if (looked === undefined) {
      throw new Error('a pooler has put another session in the place of the one of the check-ins')
    }
    const free = new Set(looked.free === '' ? [] : looked.free.split(',').map(Number))
    for (const key of keys) if (!free.has(key)) this.#seen.add(key)
    return { nowMs: Number(looked.now_ms), lost: keys.filter((key) => free.has(key) && this.#seen.has(key)) }
  }
}
