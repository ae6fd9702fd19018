import { UsageError } from '../command.ts'
import { count } from '../terminal/text.ts'

/** A row of a dump: its values by the names of columns, or why it cannot be read. */
export type DumpRow = { readonly values: object } | { readonly problem: string }

type Token =
  | { readonly kind: 'word' | 'text'; readonly text: string }
  /** One character, such as a bracket. */
  | { readonly kind: 'sign'; readonly text: string }

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', 0: '\0', b: '\b', Z: '\x1a' }
/** Words of a CREATE TABLE that begin a line of it which is no column. */
const notColumns = new Set([
  'primary',
  'key',
  'unique',
  'index',
  'constraint',
  'foreign',
  'fulltext',
  'check',
])

/** The words, texts and signs of an SQL script, one at a time; comments are left out. */
class SqlScanner {
  readonly #script: string
  #at = 0
  #isCutOff = false

  constructor(script: string) {
    this.#script = script
  }

  /** The script ended within a text or a quoted name. */
  get isCutOff(): boolean {
    return this.#isCutOff
  }

  /** Null at the end. */
  next(): Token | null {
    this.#skipBlanksAndComments()
    const first = this.#script[this.#at]
    if (first === undefined) return null
    if (first === "'" || first === '"' || first === '`') return this.#quoted(first)
    // Numbers with a sign and names with their schema are words, too.
    const word = /[\w.$+-]+/y
    word.lastIndex = this.#at
    const text = word.exec(this.#script)?.[0] ?? first
    this.#at += text.length
    return { kind: word.lastIndex === 0 ? 'sign' : 'word', text }
  }

  /** The signs of conditional comments are left out, and what is in them is read. */
  #skipBlanksAndComments(): void {
    const blank = /\s+|(?:--(?=\s)|#).*|\/\*!\d*|\*\/|\/\*(?!!)[\s\S]*?\*\//y
    for (;;) {
      blank.lastIndex = this.#at
      const found = blank.exec(this.#script)
      if (found === null) return
      this.#at += found[0].length
    }
  }

  #quoted(quote: string): Token | null {
    let text = ''
    let from = ++this.#at
    for (;;) {
      const sign = this.#script[this.#at]
      const isEscape = sign === '\\' && quote !== '`'
      const isDoubled = sign === quote && this.#script[this.#at + 1] === quote
      if (isEscape || isDoubled) {
        const escaped = this.#script[this.#at + 1] ?? ''
        text += this.#script.slice(from, this.#at) + (isDoubled ? quote : (escapes[escaped] ?? escaped))
        this.#at += 2
        from = this.#at
      } else if (sign === undefined) {
        this.#isCutOff = true
        return null
      } else if (sign === quote) {
        text += this.#script.slice(from, this.#at++)
        return { kind: quote === '`' ? 'word' : 'text', text }
      } else {
        this.#at++
      }
    }
  }
}

/**
 * Reads the rows of tables from a dump of a database, such as `mysqldump` writes. Columns have the names that the
 * INSERT gives them, or else the CREATE TABLE of the dump. Statements of other kinds are passed over.
 */
export class SqlDump {
  readonly #scanner: SqlScanner
  readonly #columns = new Map<string, readonly string[]>()
  readonly #rows = new Map<string, DumpRow[]>()
  readonly #tables: readonly string[]
  /** What the statement was about so far, which matters where the script ends there; null for other statements. */
  #within: string | null = null
  #token: Token | null

  /** Rows of other tables are passed over. */
  constructor(script: string, tables: readonly string[]) {
    this.#tables = tables
    this.#scanner = new SqlScanner(script)
    this.#token = this.#scanner.next()
  }

  /**
   * By the names of tables, without that of the database.
   *
   * @throws UsageError for a script that ends where more must come: rows would be missing, or have half of a text; and
   *   for rows of which it does not say the columns
   */
  read(): ReadonlyMap<string, readonly DumpRow[]> {
    while (!this.#isAtEnd()) {
      this.#statement()
      if (this.#isAtEnd() && (this.#within !== null || this.#scanner.isCutOff)) {
        throw cutOff(`ends within ${this.#within ?? 'a text'}, before a ';'`)
      }
      this.#step()
    }
    return this.#rows
  }

  #statement(): void {
    const first = this.#step()?.text.toLowerCase() ?? ''
    this.#within = ['insert', 'replace', 'create'].includes(first) ? 'a statement' : null
    if (first === 'create') this.#create()
    else if (this.#within !== null) this.#insert()
    while (!this.#isAtEnd() && !this.#is(';')) this.#step()
  }

  #step(): Token | null {
    const token = this.#token
    this.#token = this.#scanner.next()
    return token
  }

  #isAtEnd(): boolean {
    return this.#token === null
  }

  #is(sign: string): boolean {
    return this.#token?.kind === 'sign' && this.#token.text === sign
  }

  /** Leaves the sign behind, if it is the next token. */
  #pass(sign: string): void {
    if (this.#is(sign)) this.#step()
  }

  #isWord(...words: readonly string[]): boolean {
    return this.#token?.kind === 'word' && words.includes(this.#token.text.toLowerCase())
  }

  /** `a`, a.b and `a`.`b`, without the name of the database. */
  #name(): string {
    let name = this.#step()?.text ?? ''
    while (name.endsWith('.') || (this.#token?.kind === 'word' && this.#token.text.startsWith('.'))) {
      const next = this.#step()
      if (next === null) break
      name += next.text
    }
    return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  }

  #create(): void {
    if (!this.#isWord('table')) return
    this.#step()
    while (this.#isWord('if', 'not', 'exists')) this.#step()
    const table = this.#name()
    if (!this.#is('(')) return
    this.#within = `the columns of ${table}`
    this.#step()
    const columns: string[] = []
    while (!this.#isAtEnd() && !this.#is(')') && !this.#is(';')) {
      const first = this.#step()?.text.toLowerCase() ?? ''
      if (!notColumns.has(first)) columns.push(first)
      this.#skipTo(',')
    }
    this.#columns.set(table, columns)
  }

  /** To behind the sign, or to the bracket that ends the list. */
  #skipTo(sign: string): void {
    let depth = 0
    while (!this.#isAtEnd() && !this.#is(';')) {
      if (depth === 0 && this.#is(')')) return
      const token = this.#step()
      if (token?.kind !== 'sign') continue
      if (depth === 0 && token.text === sign) return
      if (token.text === '(') depth++
      else if (token.text === ')') depth--
    }
  }

  #insert(): void {
    while (this.#isWord('ignore', 'into', 'low_priority', 'delayed')) this.#step()
    const table = this.#name()
    if (table === '') return
    this.#within = `the rows of ${table}`
    let columns = this.#columns.get(table) ?? []
    if (this.#is('(')) {
      columns = this.#values().map((value) => String(value).toLowerCase())
      this.#pass(')')
    }
    if (!this.#isWord('values', 'value')) return
    this.#step()
    const rows = this.#rows.get(table) ?? []
    const isWanted = this.#tables.includes(table)
    if (isWanted) this.#rows.set(table, rows)
    while (this.#is('(')) {
      if (isWanted) this.#within = `row ${rows.length + 1} of ${table}`
      const values = this.#values()
      if (this.#is(')')) this.#within = `the rows of ${table}`
      this.#pass(')')
      this.#pass(',')
      if (isWanted) rows.push(rowOf(columns, values))
      // A cut-off dump is said to be one.
      if (isWanted && columns.length === 0 && !this.#isAtEnd()) throw columnsUnknown(table)
    }
  }

  /**
   * The values from one bracket to the other, which is the next token then: texts, and null. Numbers are texts; what is
   * neither has its last word.
   */
  #values(): readonly unknown[] {
    const values: unknown[] = []
    this.#step()
    while (!this.#isAtEnd() && !this.#is(')') && !this.#is(';')) {
      let value: unknown = null
      while (!this.#isAtEnd() && !this.#is(',') && !this.#is(')') && !this.#is(';')) {
        if (this.#is('(')) {
          this.#values()
          this.#pass(')')
        }
        const token = this.#is(',') || this.#is(')') ? null : this.#step()
        if (token !== null) value = isNull(token) ? null : token.text
      }
      values.push(value)
      this.#pass(',')
    }
    return values
  }
}

function columnsUnknown(table: string): UsageError {
  return new UsageError(
    `The dump does not say what the columns of ${table} are. ` +
      'Make it without --no-create-info, or with --complete-insert.',
  )
}

function rowOf(columns: readonly string[], values: readonly unknown[]): DumpRow {
  if (values.length !== columns.length) {
    return { problem: `it has ${count(values.length, 'value')} for ${count(columns.length, 'column')}` }
  }
  return { values: Object.fromEntries(columns.map((column, index) => [column, values[index]])) }
}

/**
 * Refuses what `mysqldump` began and did not end, also where it ends between two statements.
 *
 * @throws UsageError
 */
export function requireEnd(script: string): void {
  const titles = script.match(/^-- (?:MySQL|MariaDB) dump /gm) ?? []
  const ends = script.match(/^-- Dump completed/gm) ?? []
  if (ends.length < titles.length) throw cutOff("has no '-- Dump completed' at its end")
}

function cutOff(problem: string): UsageError {
  return new UsageError(`The dump ${problem}. Make the dump again.`)
}

function isNull({ kind, text }: Token): boolean {
  return kind === 'word' && text.toLowerCase() === 'null'
}
