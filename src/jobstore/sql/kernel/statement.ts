import { invariant } from '../../../core/errors.ts'
import { columnOf, textForMany, textForOne } from './bound-rows.ts'
import type { SqlDialect } from './sql-dialect.ts'

/** A value that can be bound. */
export type SqlValue = string | number | boolean | null
/**
 * The rows that a statement is about. They are bound as one JSON text, so that a statement's text does not depend on
 * their number; but one row, which is what most statements of a scheduler with little to do are about, column by
 * column where that is faster.
 */
export type SqlRows = readonly object[]

/** One statement, ready for an engine. */
export interface SqlStatement {
  /** Same text, same plan: drivers may keep it prepared. */
  readonly text: string
  readonly values: readonly SqlValue[]
  /**
   * Instead of `values`: the statement is run once with each of these. Only where the dialect says `runsRowByRow`. The
   * reply has the rows of all runs in their order, or `changesOfEach`.
   */
  readonly each?: readonly (readonly SqlValue[])[]
  /**
   * With `each`, where it does not matter which run changed how many rows: the text of so many runs in one, with their
   * values one behind the other. An engine may take less time for it.
   */
  readonly atOnce?: RunsAtOnce
  /** The text is one of many that differ by what a caller asks for: a driver need not keep it prepared. */
  readonly isComposed?: true
  /**
   * Receives the reply when the program does not wait for it: an engine may send such a statement together with a later
   * one.
   */
  readonly pending?: PendingReply
}

/** Several runs of a statement in one. */
export interface RunsAtOnce {
  readonly runs: number
  readonly text: string
}

/**
 * The reply to a statement that the program does not wait for; available as soon as a later one of its transaction is
 * answered. One that was to come with the answer to the COMMIT never comes where the connection broke, though the
 * transaction may turn out to be committed.
 */
export class PendingReply {
  #reply: SqlReply | null = null

  get hasCome(): boolean {
    return this.#reply !== null
  }

  settle(reply: SqlReply): void {
    this.#reply = reply
  }

  get reply(): SqlReply {
    invariant(this.#reply !== null, 'a pending reply is read after a later one has come')
    return this.#reply
  }
}

/** A row as the driver returned it. Whole numbers may come as text, booleans as 0 and 1: read it with `columns.ts`. */
export type SqlRow = Readonly<Record<string, unknown>>

export interface SqlReply {
  readonly rows: readonly SqlRow[]
  /** Rows inserted, updated or deleted. */
  readonly changes: number
  /**
   * How many rows each run changed: of a statement with `each` and without `atOnce` that answers no rows. Required
   * there.
   */
  readonly changesOfEach?: readonly number[]
}

/**
 * The body of a transaction: yields statements, is sent the reply to each, returns the answer. A runner may run it
 * again from the start when the engine gave up the transaction. So a program changes nothing outside itself: changes of
 * the node's memory go into the notes of the transaction.
 */
export type SqlProgram<Answer> = Generator<SqlStatement, Answer, SqlReply>

/** A statement whose text is made once and whose values are given at each run. */
export interface SqlQuery<Parameters extends Readonly<Record<string, SqlValue | SqlRows>>> {
  (parameters: Parameters): SqlStatement
  /** The text with its parameters by name (`:name`), for people. */
  readonly namedText: string
}

// Not a cast (`x::text`), and not inside a quoted literal: statements of this library hold no colons in literals.
const parameterPattern = /(?<!:):([a-z]\w*)/gi

/** Makes a query of a text with parameters such as `:name`. Only names that were validated may be put into the text. */
export function sqlQuery<Parameters extends Readonly<Record<string, SqlValue | SqlRows>>>(
  dialect: SqlDialect,
  text: string,
): SqlQuery<Parameters> {
  const { rendered, order, namedText } = render(dialect, textForMany(dialect, text))
  // Made when it is needed: many statements never are about one row.
  let forOne: ((parameters: Parameters, row: object) => SqlStatement) | null | undefined
  const query = (parameters: Parameters): SqlStatement => {
    const { rows } = parameters
    const row = typeof rows === 'object' && rows?.length === 1 ? rows[0] : undefined
    if (row !== undefined) {
      if (forOne === undefined) forOne = queryForOne(dialect, text)
      if (forOne !== null) return forOne(parameters, row)
    }
    return { text: rendered, values: order.map((name) => boundValue(parameters, name)) }
  }
  return Object.assign(query, { namedText })
}

/** The same query, of a text that is composed of what a caller asks for, such as the filters of a list. */
export function composed<Parameters extends Readonly<Record<string, SqlValue | SqlRows>>>(
  query: SqlQuery<Parameters>,
): SqlQuery<Parameters> {
  const ask = (parameters: Parameters): SqlStatement => ({ ...query(parameters), isComposed: true })
  return Object.assign(ask, { namedText: query.namedText })
}

function queryForOne(
  dialect: SqlDialect,
  text: string,
): ((parameters: Readonly<Record<string, SqlValue | SqlRows>>, row: object) => SqlStatement) | null {
  const textOfOne = textForOne(dialect, text)
  if (textOfOne === null) return null
  const { rendered, order } = render(dialect, textOfOne)
  const places = order.map((name) => ({ name, column: columnOf(name) }))
  return (parameters, row) => {
    const given = row as Readonly<Record<string, SqlValue | undefined>>
    const values = places.map(({ name, column }) => {
      return column === null ? boundValue(parameters, name) : (given[column] ?? null)
    })
    return { text: rendered, values }
  }
}

function boundValue(parameters: Readonly<Record<string, SqlValue | SqlRows>>, name: string): SqlValue {
  const value = parameters[name]
  invariant(value !== undefined, `statement parameter '${name}' has a value`)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** A statement that an engine runs once for each of a set of rows, each with its values in the order of the columns. */
export interface RowByRowQuery {
  (rows: readonly (readonly SqlValue[])[]): SqlStatement
  /** The same for one row, for engines that run statements once. */
  ofOne(values: readonly SqlValue[]): SqlStatement
  readonly namedText: string
}

/**
 * Makes a query of a text that names its parameters in the order in which rows hold them, each once. `atOnce`: the same
 * for several rows.
 */
export function rowByRowQuery(
  dialect: SqlDialect,
  text: string,
  atOnce: RunsAtOnce | null = null,
): RowByRowQuery {
  const { rendered, namedText } = render(dialect, text)
  // A name that comes again stands for the value of another row.
  const several = atOnce && {
    runs: atOnce.runs,
    text: render(dialect, atOnce.text, { reusesParameters: false }).rendered,
  }
  const query = (rows: readonly (readonly SqlValue[])[]): SqlStatement => {
    const statement = { text: rendered, values: [], each: rows }
    return several === null ? statement : { ...statement, atOnce: several }
  }
  const ofOne = (values: readonly SqlValue[]): SqlStatement => ({ text: rendered, values })
  return Object.assign(query, { ofOne, namedText })
}

function render(
  dialect: SqlDialect,
  text: string,
  { reusesParameters }: Pick<SqlDialect, 'reusesParameters'> = dialect,
): { readonly rendered: string; readonly order: readonly string[]; readonly namedText: string } {
  const order: string[] = []
  const namedText = text.replace(/\s+/g, ' ').trim()
  const rendered = namedText.replace(parameterPattern, (_, name: string) => {
    const known = order.indexOf(name)
    if (known >= 0 && reusesParameters) return dialect.placeholder(known + 1)
    order.push(name)
    return dialect.placeholder(order.length)
  })
  return { rendered, order, namedText }
}

/** A program gets this in place of a pending reply. */
export const noReply: SqlReply = Object.freeze({ rows: [], changes: 0 })

/**
 * Runs one statement without waiting for it: at the latest with the next one that the program waits for, or at the end
 * of the transaction.
 */
export function* later(statement: SqlStatement): SqlProgram<PendingReply> {
  const pending = new PendingReply()
  yield { ...statement, pending }
  return pending
}

/**
 * Runs programs side by side, in few round trips; none may depend on what another one writes. In each round trip their
 * statements are sent in the order of the programs: a program may read what one before it locks.
 */
export function* together<Answers extends readonly unknown[]>(
  ...programs: { readonly [Place in keyof Answers]: SqlProgram<Answers[Place]> }
): SqlProgram<Answers> {
  const parts = (programs as readonly SqlProgram<unknown>[]).map((program) => new Part(program))
  for (;;) {
    let last: { readonly part: Part; readonly awaited: SqlStatement } | null = null
    // They stand behind what the last part waits for, which goes first where another part waits as well.
    let behind: SqlStatement[] = []
    for (const part of parts) {
      for (const statement of part.advance()) {
        if (last === null) yield statement
        else behind.push(statement)
      }
      if (part.awaited === null) continue
      if (last !== null) last.part.reply = yield* later(last.awaited)
      for (const statement of behind) yield statement
      behind = []
      last = { part, awaited: part.awaited }
    }
    for (const statement of behind) yield statement
    if (last === null) return parts.map(({ answer }) => answer) as unknown as Answers
    last.part.reply = new PendingReply()
    last.part.reply.settle(yield last.awaited)
  }
}

/** A program that runs beside others. */
class Part {
  /** The statement that the program waits for; null before its first one, and when it has ended. */
  awaited: SqlStatement | null = null
  /** The reply to it. */
  reply: PendingReply | null = null
  answer: unknown
  #hasEnded = false
  readonly #program: SqlProgram<unknown>

  constructor(program: SqlProgram<unknown>) {
    this.#program = program
  }

  /** Goes on until the program waits or ends; yields the statements on the way, each as it is made. */
  *advance(): Generator<SqlStatement, void, unknown> {
    this.awaited = null
    if (this.#hasEnded) return
    let step = this.#program.next(this.reply?.reply ?? noReply)
    while (step.done !== true && step.value.pending !== undefined) {
      yield step.value
      step = this.#program.next(noReply)
    }
    if (step.done === true) {
      this.#hasEnded = true
      this.answer = step.value
    } else {
      this.awaited = step.value
    }
  }
}

/** Runs one statement and answers its rows. */
export function* all(statement: SqlStatement): SqlProgram<readonly SqlRow[]> {
  return (yield statement).rows
}

/** Runs one statement and answers its first row, or null. */
export function* first(statement: SqlStatement): SqlProgram<SqlRow | null> {
  return (yield statement).rows[0] ?? null
}

/** Runs one statement and answers how many rows it changed. */
export function* run(statement: SqlStatement): SqlProgram<number> {
  return (yield statement).changes
}
