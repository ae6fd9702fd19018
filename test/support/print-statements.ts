import { quartzLocking, skipLockedLocking } from '../../src/jobstore/postgres/locking.ts'
import type { TransactionLock } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import { commentOf, formatSql } from './format-sql.ts'
import {
  allTables,
  type Engine,
  names,
  postgres,
  quartzLocks,
  schedulerName,
  sqlite,
  type Table,
} from './statement-tables.ts'
import { StatementUsers } from './statement-users.ts'

/** Statements, or further statements, by name. */
export interface Statements {
  readonly [name: string]: { readonly namedText: string } | Statements
}

/** What {@link TransactionLock} is taken for, as docs/internals/sql-store.md says it. */
const locks: Readonly<Record<TransactionLock, string>> = {
  none: 'a check-in',
  rows: 'acquiring, firing, completing, resuming one trigger',
  shared: 'storing, deleting, pausing one trigger or job',
  exclusive: 'groups, calendars, everything',
  cluster: 'recovery',
  schema: 'migrations',
}

const header = `\
-- Every statement of the SQL store, as each engine is sent it, with its parameters by name and the functions that
-- ask for it. Printed by \`npm run statements\` from src/jobstore; a test compares. Tables have their default prefix.
-- What makes the tables is printed by \`quartz-ts migrate --print\`. A statement about one row is sent to PostgreSQL
-- with a value for each column: an INSERT has VALUES, and others SELECT them in place of the set of rows.
`

/** The text of docs/internals/statements.sql. */
export function printStatements(): string {
  const users = new StatementUsers()
  return [header, ...allTables.map((table) => printTable(table, users)), printLocks()].join('\n')
}

function printTable(table: Table, users: StatementUsers): string {
  const engines = table.engines ?? [sqlite, postgres, quartzLocks]
  const title = `-- ${table.names[0] ?? ''}: ${table.about}`
  const blocks = [`${'-'.repeat(title.length)}\n${title}\n${'-'.repeat(title.length)}\n`]
  const all = engines.flatMap((engine) => pathsOf(table.statements(engine.vocabulary) as Statements))
  const paths = new Map(all.map((path) => [path.join('.'), path]))
  for (const path of paths.values()) {
    const methods = users.methodsOf(table.path, path)
    const texts = engines.map((engine) => textAt(table.statements(engine.vocabulary) as Statements, path))
    blocks.push(
      block(`${table.names[0] ?? ''}.${path.join('.')}`, usersOf(table, methods, users), engines, texts),
    )
  }
  for (const { name, shown, methods, make } of table.composed ?? []) {
    const texts = engines.map(({ vocabulary }) => make(vocabulary).namedText)
    blocks.push(
      block(`${table.names[0] ?? ''}.${name}: ${shown}`, usersOf(table, methods, users), engines, texts),
    )
  }
  return blocks.join('\n')
}

function usersOf(table: Table, methods: readonly string[], users: StatementUsers): readonly string[] {
  if (table.user !== undefined) return [table.user]
  return users.callersOf(table.names, methods)
}

export function pathsOf(statements: Statements): string[][] {
  return Object.entries(statements).flatMap(([name, value]) => {
    return isStatement(value) ? [[name]] : pathsOf(value).map((path) => [name, ...path])
  })
}

function isStatement(value: Statements[string]): value is { readonly namedText: string } {
  return typeof value === 'function'
}

/** Null where an engine is not sent the statement. */
export function textAt(statements: Statements, [name = '', ...rest]: readonly string[]): string | null {
  const value = statements[name]
  if (value === undefined) return null
  return isStatement(value) ? value.namedText : textAt(value, rest)
}

/** One statement; engines that are sent the same text share it. */
function block(
  title: string,
  users: readonly string[],
  engines: readonly Engine[],
  texts: readonly (string | null)[],
): string {
  if (users.length === 0) throw new Error(`nothing uses the statement ${title}`)
  const byText = new Map<string, string[]>()
  for (const [index, text] of texts.entries()) {
    if (text !== null) byText.set(text, [...(byText.get(text) ?? []), engines[index]?.name ?? ''])
  }
  const printed = [...byText].map(([text, sent]) => `${nameOf(sent, engines)}${formatSql(text)};\n`)
  return `-- ${title}\n${users.map(commentOf).join('')}${printed.join('\n')}`
}

function nameOf(sent: readonly string[], engines: readonly Engine[]): string {
  if (engines.length === 1) return ''
  if (sent.length === engines.length) return '-- Every engine\n'
  const isPostgres = sent.length === 2 && !sent.includes(sqlite.name)
  return `-- ${isPostgres ? postgres.name : sent.join(' and ')}\n`
}

function printLocks(): string {
  const scope = { names, schedulerName }
  const strategies = [skipLockedLocking(scope), quartzLocking(scope)]
  const title = `-- Locks that a transaction takes on PostgreSQL when it begins, for a scheduler named ${schedulerName}`
  const blocks = [`${'-'.repeat(title.length)}\n${title}\n${'-'.repeat(title.length)}\n`]
  for (const [lock, use] of Object.entries(locks)) {
    for (const strategy of strategies) {
      const taken = strategy.take(lock as TransactionLock).map((text) => `${formatSql(text)};\n`)
      blocks.push(
        `-- ${lock}, for ${use}: ${strategy.name}\n${taken.length === 0 ? '-- nothing\n' : taken.join('')}`,
      )
    }
  }
  return blocks.join('\n')
}
