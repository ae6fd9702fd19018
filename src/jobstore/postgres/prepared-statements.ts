import { createHash } from 'node:crypto'
import type { SqlReply, SqlStatement } from '../sql/statement.ts'
import type { PostgresQuery, PostgresResult } from './postgres-session.ts'

/** More would be a leak of texts that differ each time; the server keeps every one on every connection. */
const mostNames = 500

/** Turns statements into what pg takes, naming each text so that the server plans it once per connection. */
export class PreparedStatements {
  readonly #names = new Map<string, string>()
  readonly #isOn: boolean

  constructor(isOn: boolean) {
    this.#isOn = isOn
  }

  queryOf({ text, values }: SqlStatement): PostgresQuery {
    const name = this.#isOn ? this.#nameOf(text) : null
    return name === null ? { text, values } : { name, text, values }
  }

  #nameOf(text: string): string | null {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (this.#names.size >= mostNames) return null
    // From the text, not a counter: two stores may share the user's pool.
    const name = `quartz_ts_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    this.#names.set(text, name)
    return name
  }
}

const changing = /^(INSERT|UPDATE|DELETE|MERGE)$/

export function replyOf(result: PostgresResult | undefined): SqlReply {
  if (result === undefined) return { rows: [], changes: 0 }
  return { rows: result.rows, changes: changing.test(result.command) ? (result.rowCount ?? 0) : 0 }
}
