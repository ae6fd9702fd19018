import type Database from 'better-sqlite3'
import type { SqlDialect } from '../../src/jobstore/sql/kernel/sql-dialect.ts'
import type { SqlReply, SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import type { SimClock } from './sim-clock.ts'
import type { SimRandom } from './sim-random.ts'

type LockedTable = 'j' | 't'

const nameColumns: Readonly<Record<LockedTable, string>> = { j: 'job_name', t: 'trigger_name' }
const selectNames: Readonly<Record<LockedTable, string>> = {
  j: 'SELECT job_name AS name FROM qrtz_job_details ORDER BY job_name',
  t: 'SELECT trigger_name AS name FROM qrtz_triggers ORDER BY trigger_name',
}
const skips = /\/\* skip locked ([jt]) \*\//

/**
 * Rows that sessions outside of the cluster hold, for long: statements that pass over locked rows do not get them.
 * SQLite locks no rows, so the dialect marks those statements and their replies are sifted.
 */
export class SimForeignLocks {
  readonly #held = new Set<string>()
  readonly #clock: SimClock
  readonly #random: SimRandom

  constructor(clock: SimClock, random: SimRandom) {
    this.#clock = clock
    this.#random = random
  }

  static readonly dialect: Pick<SqlDialect, 'forUpdateSkipLocked'> = {
    forUpdateSkipLocked: (alias) => `/* skip locked ${alias} */`,
  }

  sift(statement: SqlStatement, reply: SqlReply): SqlReply {
    const table = skips.exec(statement.text)?.[1] as LockedTable | undefined
    if (this.#held.size === 0 || table === undefined || reply.rows.length === 0) return reply
    const rows = reply.rows.filter((row) => !this.#held.has(`${table} ${String(row[nameColumns[table]])}`))
    return { ...reply, rows }
  }

  /** Holds the row of a job until the answer is called. */
  holdJob(name: string): () => void {
    const row = `j ${name}`
    this.#held.add(row)
    return () => this.#held.delete(row)
  }

  /** Takes and gives back locks on rows until then; after that none is held. */
  async disturb(untilMs: number, database: Database.Database): Promise<void> {
    const random = this.#random
    while (this.#clock.elapsedMs() < untilMs) {
      await this.#clock.sleep(random.integer(100, 1500))
      const table = random.pick(['j', 'j', 't'] as const)
      const names = database.prepare<[], { name: string }>(selectNames[table]).all()
      if (names.length === 0) continue
      const row = `${table} ${random.pick(names).name}`
      this.#held.add(row)
      this.#clock.setTimer(random.pick([50, 500, 5000, 15_000]), () => {
        this.#held.delete(row)
      })
    }
    this.#held.clear()
  }
}
