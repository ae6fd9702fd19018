import { noReply, type SqlProgram, type SqlReply, type SqlStatement } from '../sql/kernel/statement.ts'
import type { PostgresSession } from './postgres-session.ts'
import type { PreparedStatements } from './prepared-statements.ts'

/** How many characters of values may wait to be sent together, because one time limit holds for all their answers. */
const unsentMax = 1_000_000

/**
 * Sends the statements of a transaction, one after the other. One whose answer is not waited for goes with the next one
 * whose answer is, because a round trip costs more than most statements.
 */
export class StatementSender {
  readonly #session: PostgresSession
  readonly #statements: PreparedStatements
  #unsent: SqlStatement[] = []
  #unsentSize = 0
  #hasSent = false
  /** Statements that are sent ahead, while the program goes on; null while there are none. Never rejects. */
  #ahead: Promise<{ readonly failure: unknown } | null> | null = null
  readonly #onReplies: ((replies: readonly SqlReply[]) => void) | null

  /** `onReplies` is told of the replies to what was sent together. */
  constructor(
    session: PostgresSession,
    statements: PreparedStatements,
    onReplies: ((replies: readonly SqlReply[]) => void) | null = null,
  ) {
    this.#session = session
    this.#statements = statements
    this.#onReplies = onReplies
  }

  /** Whether the server may have got any statement. */
  get hasSent(): boolean {
    return this.#hasSent
  }

  /** Runs a program; at its end some statements may be unsent. */
  async run<Answer>(program: SqlProgram<Answer>): Promise<Answer> {
    try {
      let step = program.next()
      while (step.done !== true) {
        const statement = step.value
        if (statement.pending === undefined) step = program.next(await this.ask(statement))
        else {
          await this.#putOff(statement)
          step = program.next(noReply)
        }
      }
      return step.value
    } catch (error) {
      // The caller rolls back, for which the connection must be free.
      await this.#ahead
      throw error
    }
  }

  /** Goes with the next statement whose answer is waited for. */
  add(...statements: readonly SqlStatement[]): void {
    this.#unsent.push(...statements)
  }

  async ask(statement: SqlStatement): Promise<SqlReply> {
    this.add(statement)
    return (await this.flush()).at(-1) ?? noReply
  }

  /** Sends what is unsent; answers the replies. */
  async flush(): Promise<readonly SqlReply[]> {
    await this.arrived()
    return this.#send()
  }

  /** Waits for what was sent ahead. @throws what it failed with */
  async arrived(): Promise<void> {
    const outcome = await this.#ahead
    this.#ahead = null
    if (outcome !== null) throw outcome.failure
  }

  async #putOff(statement: SqlStatement): Promise<void> {
    this.add(statement)
    this.#unsentSize += sizeOf(statement)
    if (this.#unsentSize <= unsentMax) return
    await this.arrived()
    // The program makes its next statements while the server runs these.
    this.#ahead = this.#send().then(
      () => null,
      (failure: unknown) => ({ failure }),
    )
  }

  async #send(): Promise<readonly SqlReply[]> {
    const sent = this.#unsent
    this.#unsent = []
    this.#unsentSize = 0
    this.#hasSent = true
    const replies = await this.#session.pipeline(sent.map((statement) => this.#statements.named(statement)))
    for (const [index, { pending }] of sent.entries()) pending?.settle(replies[index] ?? noReply)
    this.#onReplies?.(replies)
    return replies
  }
}

function sizeOf({ values }: SqlStatement): number {
  return values.reduce<number>((size, value) => size + (typeof value === 'string' ? value.length : 0), 0)
}
