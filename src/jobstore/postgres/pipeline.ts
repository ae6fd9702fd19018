import type pg from 'pg'
import type { SqlReply, SqlRow, SqlStatement } from '../sql/kernel/statement.ts'
import { type ColumnParser, parserOf } from './column-parsers.ts'

/** A statement as it is sent: prepared under its name once per connection; null: not kept. */
export interface PipelinedStatement extends SqlStatement {
  readonly name: string | null
}

/** The part of pg's connection that queries of other classes may use, such as those of pg-cursor. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void }
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: { readonly statement: string; readonly values: readonly (string | null)[] }): void
  describe(message: { readonly type: 'P'; readonly name: '' }): void
  execute(message: object): void
  sync(): void
  on(event: 'parseComplete', listener: () => void): unknown
  off(event: 'parseComplete', listener: () => void): unknown
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

interface Column {
  readonly name: string
  readonly parse: (value: string) => unknown
}

interface RowShape {
  readonly columns: readonly Column[]
  /** A row of which every column is null: a copy of it is made faster, and smaller, than an object column by column. */
  readonly empty: SqlRow
}

const noColumns: RowShape = { columns: [], empty: {} }

/** A prepared statement of a connection. */
interface Prepared {
  /** The columns of its rows; null until it has run. */
  shape: RowShape | null
}

/** By connection; forgotten with the connection. */
const preparedOn = new WeakMap<object, Map<string, Prepared>>()

const none: readonly SqlRow[] = []
/** "UPDATE 3", "INSERT 0 3"; a SELECT changes nothing. */
const changeTag = /^(?:INSERT \d+|UPDATE|DELETE|MERGE) (\d+)$/

/** Whether a client of pg accepts queries of other classes: the native one does not, nor one that pipelines itself. */
export function takesPipelines(client: object): boolean {
  const { connection, pipeline } = client as { connection?: Partial<Wire>; pipeline?: unknown }
  return pipeline !== true && typeof connection?.parse === 'function'
}

/**
 * Statements that are sent together and answered together, in one round trip: in the extended protocol with one Sync
 * behind the last, so that the server runs them in order and none after one that fails. A "submittable" in pg's terms.
 */
export class Pipeline implements pg.Submittable {
  readonly #statements: readonly PipelinedStatement[]
  readonly #parserOf: (typeId: number) => ColumnParser
  readonly #replies: SqlReply[] = []
  /** Statements that are parsed in this message, in this order. */
  readonly #parsing: string[] = []
  /** One reply for each statement; rejects with the server's error, or that of the connection. */
  readonly answer: Promise<readonly SqlReply[]>
  #prepared = new Map<string, Prepared>()
  #shape = noColumns
  #rows: SqlRow[] | null = null
  #stopListening = (): void => {}
  #unreadable: Error | null = null
  /** pg wraps this function when it has a query timeout. */
  callback: (error: Error | null, replies?: readonly SqlReply[]) => void

  constructor(
    statements: readonly PipelinedStatement[],
    parser: (typeId: number) => ColumnParser = parserOf,
  ) {
    this.#statements = statements
    this.#parserOf = parser
    let settle: Pipeline['callback'] = () => {}
    this.answer = new Promise((resolve, reject) => {
      settle = (error, replies = []) => {
        if (error === null) resolve(replies)
        else reject(error)
      }
    })
    this.callback = settle
  }

  /** For tools that log queries. */
  get text(): string {
    return this.#statements.map(({ text }) => text).join('; ')
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as Wire
    this.#prepared = preparedOn.get(wire) ?? new Map<string, Prepared>()
    preparedOn.set(wire, this.#prepared)
    const onParsed = (): void => {
      const name = this.#parsing.shift()
      if (name !== undefined && name !== '') this.#prepared.set(name, { shape: null })
    }
    wire.on('parseComplete', onParsed)
    this.#stopListening = () => wire.off('parseComplete', onParsed)
    wire.stream.cork()
    try {
      for (const statement of this.#statements) this.#send(wire, statement)
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
  }

  #send(wire: Wire, { name, text, values }: PipelinedStatement): void {
    const statement = name ?? ''
    const prepared = this.#prepared.get(statement)
    if (prepared === undefined && (statement === '' || !this.#parsing.includes(statement))) {
      this.#parsing.push(statement)
      wire.parse({ name: statement, text })
    }
    wire.bind({ statement, values: values.map(toText) })
    // The columns of a prepared statement are known after its first run.
    if (prepared === undefined || prepared.shape === null) wire.describe({ type: 'P', name: '' })
    wire.execute({})
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: this.#parserOf(dataTypeID) }))
    this.#shape = { columns, empty: Object.fromEntries(columns.map(({ name }) => [name, null])) }
    const prepared = this.#preparedNow()
    if (prepared !== undefined) prepared.shape = this.#shape
    this.#rows = []
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const rows = (this.#rows ??= this.#expectRows())
    try {
      rows.push(rowOf(this.#shape, fields))
    } catch (error) {
      // An error thrown here would reach the socket, and no caller would get an answer.
      this.#unreadable ??= new Error('the value of a column cannot be read', { cause: error })
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const prepared = this.#preparedNow()
    if (prepared !== undefined) prepared.shape ??= noColumns
    this.#replies.push({ rows: this.#rows ?? none, changes: Number(changeTag.exec(text)?.[1] ?? 0) })
    this.#rows = null
  }

  handleReadyForQuery(): void {
    this.#stopListening()
    this.callback(this.#unreadable, this.#replies)
  }

  handleError(error: Error): void {
    this.#stopListening()
    this.callback(error)
  }

  #expectRows(): SqlRow[] {
    this.#shape = this.#preparedNow()?.shape ?? noColumns
    return []
  }

  #preparedNow(): Prepared | undefined {
    return this.#prepared.get(this.#statements[this.#replies.length]?.name ?? '')
  }
}

function rowOf({ columns, empty }: RowShape, fields: readonly (string | null)[]): SqlRow {
  const row: Record<string, unknown> = { ...empty }
  let index = 0
  for (const { name, parse } of columns) {
    const value = fields[index++] ?? null
    if (value !== null) row[name] = parse(value)
  }
  return row
}

function toText(value: SqlStatement['values'][number]): string | null {
  const bound = bindable(value)
  return bound === null || typeof bound === 'string' ? bound : String(bound)
}

/**
 * What is stored is checked before, but anything may be looked for. PostgreSQL refuses a NUL; the driver sends halves
 * of surrogate pairs as U+FFFD, which also stands in stored messages for what no column can hold.
 */
export function bindable<Value>(value: Value): Value | string {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}
