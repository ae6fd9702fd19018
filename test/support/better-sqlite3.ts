import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadNodeSqlite, NodeSqliteDatabase } from '../../src/jobstore/sqlite/node-sqlite.ts'
import type { SqliteDatabase, SqliteStatement } from '../../src/jobstore/sqlite/sqlite-database.ts'

interface Native {
  exec(source: string): void
  prepare(source: string): { all(): object[] }
  function(name: string, body: () => unknown): void
}

interface Statement extends SqliteStatement {
  get(...values: readonly unknown[]): object | undefined
  pluck(): { all(...values: readonly unknown[]): unknown[] }
}

interface Options {
  readonly readonly?: boolean
  readonly timeout?: number
  /** Is told the text of each statement that runs, in which values are placeholders. */
  readonly verbose?: (text: string) => void
}

const loaded = await loadNodeSqlite()

/**
 * What the tests use of better-sqlite3, on `node:sqlite`, for a Node.js that the package is not built for. Only tests
 * get it for that name: the store looks for its driver as everywhere.
 */
export default class Database implements SqliteDatabase {
  readonly name: string
  readonly #native: Native
  readonly #connection: NodeSqliteDatabase
  readonly #tell: (text: string) => void

  constructor(source: string | Buffer, options: Options = {}) {
    if (loaded === null)
      throw new Error('neither better-sqlite3 nor node:sqlite can be loaded by this Node.js')
    this.name = typeof source === 'string' ? source : ':memory:'
    this.#tell = (text) => options.verbose?.(text)
    const DatabaseSync = loaded.DatabaseSync as new (name: string, settings: object) => object
    const native = new DatabaseSync(this.name, { readOnly: options.readonly === true })
    this.#native = native as Native
    // The connection that the store would make, on the very same handle.
    const opened = {
      DatabaseSync: function () {
        return native
      },
    } as unknown as typeof loaded
    this.#connection = new NodeSqliteDatabase(opened, this.name, { fileMustExist: false })
    this.pragma(`busy_timeout = ${options.timeout ?? 5000}`)
    if (typeof source !== 'string') this.#fill(source)
  }

  get open(): boolean {
    return this.#connection.open
  }
  get memory(): boolean {
    return this.#connection.memory
  }
  get inTransaction(): boolean {
    return this.#connection.inTransaction
  }

  exec(source: string): this {
    this.#native.exec(source)
    return this
  }

  function(name: string, body: () => unknown): this {
    this.#native.function(name, body)
    return this
  }

  prepare(source: string): Statement {
    const statement = this.#connection.prepare(source)
    const all = (...values: readonly unknown[]): unknown[] => {
      this.#tell(source)
      return statement.all(...values)
    }
    return {
      reader: statement.reader,
      safeIntegers: (on) => statement.safeIntegers(on),
      all,
      run: (...values) => {
        this.#tell(source)
        return statement.run(...values)
      },
      get: (...values) => all(...values)[0] as object | undefined,
      pluck: () => ({
        all: (...values) => all(...values).map((row) => Object.values(row as object)[0] as unknown),
      }),
    }
  }

  pragma(source: string, options?: { readonly simple?: boolean }): unknown {
    return this.#connection.pragma(source, options)
  }

  transaction(body: () => void): () => void {
    return () => {
      this.exec('BEGIN')
      body()
      this.exec('COMMIT')
    }
  }

  /** Its file, as the constructor takes it. */
  serialize(): Buffer {
    return throughFile((filename) => {
      this.exec(`VACUUM INTO '${filename}'`)
      return readFileSync(filename)
    })
  }

  close(): void {
    this.#connection.close()
  }

  #fill(file: Buffer): void {
    throughFile((filename) => {
      writeFileSync(filename, file)
      this.exec(`ATTACH '${filename}' AS source`)
      const schema = this.#native
        .prepare(
          "SELECT type, name, sql FROM source.sqlite_schema WHERE sql IS NOT NULL ORDER BY type <> 'table'",
        )
        .all() as { type: string; name: string; sql: string }[]
      for (const { type, name, sql } of schema) {
        this.exec(sql)
        if (type === 'table') this.exec(`INSERT INTO main.${name} SELECT * FROM source.${name}`)
      }
      this.exec('DETACH source')
    })
  }
}

function throughFile<Answer>(use: (filename: string) => Answer): Answer {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-sqlite-'))
  try {
    return use(join(folder, 'copy.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
