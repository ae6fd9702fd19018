import type pg from 'pg'
import type { Clock, Timer } from '../../time/clock.ts'
import { postgresDriver } from './postgres-driver.ts'
import { DatabaseFailure } from './postgres-errors.ts'

export interface SessionSettings {
  readonly clock: Clock
  /** Told once of a statement that waits for longer than this. */
  readonly slow: { readonly afterMs: number; report(wait: SlowStatement): void } | null
}

export interface SlowStatement {
  readonly text: string
  readonly waitedMs: number
  /** The server process that waits, as far as it is known. */
  readonly processId: number | null
}

/** What pg takes: `values` make it use the extended protocol, without them `text` may hold several statements. */
export interface PostgresQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Prepared under this name, once per connection. */
  readonly name?: string
}

export type PostgresResult = pg.QueryResult<Record<string, unknown>>

type Parser = (value: string) => unknown

/** Numbers of types that every server has. */
const { BOOL, BYTEA, INT2, INT4 } = { BOOL: 16, BYTEA: 17, INT2: 21, INT4: 23 }
const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [BOOL, (value) => value === 't'],
  [BYTEA, toBytes],
  [INT2, Number],
  [INT4, Number],
])
const asText: Parser = (value) => value

function toBytes(value: string): unknown {
  if (value.startsWith('\\x')) return Buffer.from(value.slice(2), 'hex')
  // The form of old servers, which a setting brings back.
  const { types: theirs } = postgresDriver()
  const parse = theirs.getTypeParser(theirs.builtins.BYTEA, 'text') as Parser
  return parse(value)
}

/** Parsers of this library alone: a user's global ones (`pg.types.setTypeParser`) must not change what rows hold. */
const types: object = { getTypeParser: (oid: number): Parser => parsers.get(oid) ?? asText }

/**
 * One connection that was taken from the pool, until it is given back. While it is out the pool does not listen for
 * its errors, and an `error` event that nobody listens for ends the process.
 */
export class PostgresSession {
  readonly #client: pg.PoolClient
  readonly #release: (error?: Error | boolean) => void
  readonly #settings: SessionSettings
  readonly #answerWithinMs: number | null
  #isOut = true
  #processId: number | null

  /**
   * To be made in the very turn in which the pool gives the client. A connection on which an answer takes longer than
   * `answerWithinMs` counts as lost; null: never.
   */
  constructor(
    client: pg.PoolClient,
    release: (error?: Error | boolean) => void,
    settings: SessionSettings,
    answerWithinMs: number | null,
  ) {
    this.#client = client
    this.#release = release
    this.#settings = settings
    this.#answerWithinMs = answerWithinMs
    const { processID } = client as { processID?: number | null }
    this.#processId = processID ?? null
    client.on('error', ignore)
  }

  /** Behind a transaction pooler only the server itself can say which of its processes works for a transaction. */
  set processId(id: number) {
    this.#processId = id
  }

  /** Runs statements in one round trip; one result for each. @throws DatabaseFailure */
  async query(query: PostgresQuery): Promise<PostgresResult[]> {
    const { clock, slow } = this.#settings
    const answerWithinMs = this.#answerWithinMs
    const startedMs = clock.elapsedMs()
    let timer: Timer | null = null
    const deadline = new Promise<never>((_, reject) => {
      const armDeadline = (spentMs: number): void => {
        if (answerWithinMs === null) return
        timer = clock.setTimer(Math.max(0, answerWithinMs - spentMs), () => {
          reject(DatabaseFailure.noAnswer(answerWithinMs))
        })
      }
      if (slow === null) {
        armDeadline(0)
        return
      }
      timer = clock.setTimer(slow.afterMs, () => {
        const waitedMs = clock.elapsedMs() - startedMs
        slow.report({ text: query.text, waitedMs, processId: this.#processId })
        armDeadline(slow.afterMs)
      })
    })
    try {
      const config = { ...query, types } as pg.QueryConfig
      const result: unknown = await Promise.race([this.#client.query(config), deadline])
      // The types of pg do not know that several statements have several results.
      return (Array.isArray(result) ? result : [result]) as PostgresResult[]
    } catch (error) {
      throw error instanceof DatabaseFailure ? error : new DatabaseFailure(error)
    } finally {
      ;(timer as Timer | null)?.cancel()
    }
  }

  /** Gives the connection back to the pool. */
  release(): void {
    this.#end()
  }

  /** Closes the connection; the pool makes another when it needs one. */
  discard(): void {
    this.#end(true)
  }

  #end(error?: true): void {
    if (!this.#isOut) return
    this.#isOut = false
    // First the pool listens again, then this session stops to.
    this.#release(error)
    this.#client.off('error', ignore)
  }
}

function ignore(): void {
  // The statement under way, or the next one, fails with the same error.
}
