import type Database from 'better-sqlite3'
import type pg from 'pg'
import { JobPersistenceError } from 'quartz-ts'
import { postgresDialect, postgresSchema } from 'quartz-ts/postgres'
import type {
  SqlDatabase,
  SqlDialect,
  SqlProgram,
  SqlReply,
  SqlRow,
  SqlStatement,
  SqlValue,
} from 'quartz-ts/spi'
import { sqliteDialect, sqliteSchema } from 'quartz-ts/sqlite'

// Databases as the guide tells users of `sqlJobStore` to write them: the words are the library's, the runners are not.

/** A connection of better-sqlite3 that belongs to the test. */
export function ownSqlite(connection: Database.Database, dialect: SqlDialect = sqliteDialect): SqlDatabase {
  const prepared = new Map<string, Database.Statement>()
  const replyTo = ({ text, values, each }: SqlStatement): SqlReply => {
    const statement: Database.Statement = prepared.get(text) ?? connection.prepare(text)
    prepared.set(text, statement)
    // As the guide says, `each` comes only where the dialect asks for it: elsewhere a runner need not know it.
    const runs = ((dialect.runsRowByRow ? each : undefined) ?? [values]).map((row) => row.map(toSqlite))
    if (statement.reader) {
      const rows = runs.flatMap((row) => statement.all(...row) as SqlRow[])
      return { rows, changes: rows.length }
    }
    const changesOfEach = runs.map((row) => statement.run(...row).changes)
    return { rows: [], changes: changesOfEach.reduce((sum, changes) => sum + changes, 0), changesOfEach }
  }
  const runProgram = <Answer>(program: SqlProgram<Answer>): Answer => {
    let step = program.next()
    while (step.done !== true) {
      const reply = asDatabaseError(() => replyTo(step.value as SqlStatement))
      step.value.pending?.settle(reply)
      step = program.next(reply)
    }
    return step.value
  }
  return {
    name: 'OwnSqlite',
    persistent: connection.name !== ':memory:',
    dialect,
    schema: sqliteSchema,
    async connect() {
      return {
        async transact(begin) {
          connection.exec('BEGIN IMMEDIATE')
          try {
            const answer = runProgram(begin())
            connection.exec('COMMIT')
            return answer
          } catch (error) {
            if (connection.inTransaction) connection.exec('ROLLBACK')
            throw error
          }
        },
        read: async (begin) => runProgram(begin()),
        close: async () => {},
      }
    },
  }
}

function toSqlite(value: SqlValue): string | number | bigint | null {
  if (typeof value === 'boolean') return value ? 1n : 0n
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
}

/** A client of pg as it is without settings, which belongs to the test; one transaction at a time. */
export function ownPostgres(client: pg.Client): SqlDatabase {
  const replyTo = async ({ text, values }: SqlStatement): Promise<SqlReply> => {
    try {
      const { rows, rowCount } = await client.query<SqlRow>(text, [...values])
      return { rows, changes: rowCount ?? 0 }
    } catch (cause) {
      throw databaseError(cause)
    }
  }
  const runProgram = async <Answer>(program: SqlProgram<Answer>): Promise<Answer> => {
    let step = program.next()
    while (step.done !== true) {
      const reply = await replyTo(step.value)
      step.value.pending?.settle(reply)
      step = program.next(reply)
    }
    return step.value
  }
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    const answer = last.then(work)
    last = answer.catch(() => {})
    return answer
  }
  return {
    name: 'OwnPostgres',
    persistent: true,
    dialect: postgresDialect,
    schema: postgresSchema,
    async connect() {
      return {
        transact: (begin) =>
          inTurn(async () => {
            await client.query('BEGIN')
            try {
              const answer = await runProgram(begin())
              await client.query('COMMIT')
              return answer
            } catch (error) {
              await client.query('ROLLBACK')
              throw error
            }
          }),
        read: (begin) => inTurn(() => runProgram(begin())),
        close: async () => {},
      }
    },
  }
}

function asDatabaseError<Answer>(call: () => Answer): Answer {
  try {
    return call()
  } catch (cause) {
    throw databaseError(cause)
  }
}

function databaseError(cause: unknown): JobPersistenceError {
  return new JobPersistenceError(`The database said: ${String(cause)}`, { code: 'ERR_DATABASE', cause })
}
