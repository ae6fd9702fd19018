import type pg from 'pg'
import type { Clock, ClockTimer } from '../../time/clock.ts'
import { noReply, type SqlReply } from '../sql/kernel/statement.ts'
import { parserOf } from './column-parsers.ts'
import { bindable, Pipeline, type PipelinedStatement, takesPipelines } from './pipeline.ts'
import { cutConnection } from './postgres-driver.ts'
import { DatabaseFailure } from './postgres-errors.ts'

export interface SessionSettings {
  readonly clock: Clock
  readonly slow: SlowWatch | null
}

/** Called once for a statement that takes longer than this. */
export interface SlowWatch {
  readonly afterMs: number
  report(wait: SlowStatement): void
}

export interface SlowStatement {
  readonly waitedMs: number
  /** The server process that waits, if it is known. */
  readonly processId: number | null
  /** It waited for a lock, and the wait was reported. */
  readonly onTold?: () => void
}

/** The query of pg: with `values` it uses the extended protocol, without them `text` may hold several statements. */
export interface PostgresQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Prepared under this name, once per connection. */
  readonly name?: string
}

export type PostgresResult = pg.QueryResult<Record<string, unknown>>

const changing = /^(INSERT|UPDATE|DELETE|MERGE)$/

/** Parsers of this library only, for pg's own queries. */
const types: object = { getTypeParser: parserOf }

/**
 * One connection that was taken from the pool, until it is given back. The pool does not listen for errors of a
 * connection in use, and an `error` event without a listener ends the process.
 */
export class PostgresSession {
  readonly #client: pg.PoolClient
  readonly #release: (error?: Error | boolean) => void
  readonly #settings: SessionSettings
  readonly #answerWithinMs: number | null
  #slow: SlowWatch | null
  #isOut = true
  #processId: number | null

  /**
   * To be called in the turn of the event loop in which the pool gives the client. A connection on which an answer
   * takes longer than `answerWithinMs` counts as lost; null: never.
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
    this.#slow = settings.slow
    const { processID } = client as { processID?: number | null }
    this.#processId = processID ?? null
    client.on('error', ignore)
  }

  /** Behind a transaction pooler only the server knows which of its processes runs a transaction. */
  set processId(id: number) {
    this.#processId = id
  }

  /** Who is told of statements from now on that take long. */
  set slow(watch: SlowWatch | null) {
    this.#slow = watch
  }

  /** Runs the statements of a text in one round trip; one result for each. @throws DatabaseFailure */
  async query(query: PostgresQuery): Promise<PostgresResult[]> {
    const config = { ...query, types } as pg.QueryConfig
    const result: unknown = await this.#watch(() => this.#client.query(config))
    // The types of pg lack the list of results of several statements.
    return (Array.isArray(result) ? result : [result]) as PostgresResult[]
  }

  /** Runs statements in one round trip, none after one that fails; one reply for each. @throws DatabaseFailure */
  async pipeline(statements: readonly PipelinedStatement[]): Promise<readonly SqlReply[]> {
    if (!takesPipelines(this.#client)) return this.#oneByOne(statements)
    const pipeline = new Pipeline(statements)
    return this.#watch(() => this.#client.query(pipeline).answer)
  }

  /**
   * Runs a statement that is no part of a transaction, with limits of its own. A client that takes no pipelines has
   * none but those of the server. @throws DatabaseFailure
   */
  async read(statement: PipelinedStatement, limits: PipelinedStatement | null): Promise<SqlReply> {
    const statements = limits === null || !takesPipelines(this.#client) ? [statement] : [limits, statement]
    return (await this.pipeline(statements)).at(-1) ?? noReply
  }

  async #oneByOne(statements: readonly PipelinedStatement[]): Promise<SqlReply[]> {
    const replies: SqlReply[] = []
    for (const { text, values, name } of statements) {
      const [result] = await this.query({
        text,
        values: values.map(bindable),
        ...(name !== null && { name }),
      })
      const isChange = result !== undefined && changing.test(result.command)
      replies.push({ rows: result?.rows ?? [], changes: isChange ? (result.rowCount ?? 0) : 0 })
    }
    return replies
  }

  /** Waits for an answer up to the session's limit, and reports a slow statement. @throws DatabaseFailure */
  async #watch<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const { clock } = this.#settings
    const slow = this.#slow
    const answerWithinMs = this.#answerWithinMs
    const startedMs = clock.elapsedMs()
    let timer: ClockTimer | null = null
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
        slow.report({ waitedMs, processId: this.#processId })
        armDeadline(slow.afterMs)
      })
    })
    try {
      return await Promise.race([ask(), deadline])
    } catch (error) {
      throw error instanceof DatabaseFailure ? error : new DatabaseFailure(error)
    } finally {
      ;(timer as ClockTimer | null)?.cancel()
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

  /** Breaks the connection: statements under way fail at once. The caller that has the session still gives it back. */
  cut(): void {
    cutConnection(this.#client)
  }

  #end(error?: true): void {
    if (!this.#isOut) return
    this.#isOut = false
    // The pool listens again before this session stops listening.
    this.#release(error)
    this.#client.off('error', ignore)
  }
}

function ignore(): void {
  // The statement under way, or the next one, fails with the same error.
}
