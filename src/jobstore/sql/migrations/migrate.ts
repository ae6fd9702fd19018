import { invariant, JobPersistenceError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import type { Clock, EpochMs } from '../../../time/clock.ts'
import type { SqlNames } from '../kernel/sql-names.ts'
import type { SqlRunner } from '../kernel/sql-runner.ts'
import { all, run, type SqlProgram, type SqlStatement, sqlQuery } from '../kernel/statement.ts'
import { boolean, integer, readable, text, textOrNull } from '../tables/encoding/columns.ts'
import {
  newestSchemaVersion,
  type PlannedMigration,
  planMigrations,
  requireColumns,
  type SchemaChange,
  type SchemaState,
  type SchemaVocabulary,
  type StoredIndex,
  tablesToInspect,
  versionTable,
} from './plan-migrations.ts'
import { planRepairs } from './plan-repairs.ts'

/** Whether the store brings the schema up to date when it starts, or the user does, with the command. */
export type MigrateMode = 'onStart' | 'never'

/**
 * Brings a database up to date; answers the versions that were applied, and the newest one when missing parts of it
 * were made again. Any number of nodes may do so at once.
 *
 * A step is one transaction, but for what it changes in tables that were there before: these may be in use, and each
 * such change keeps others from its table until its transaction ends. So each has a transaction of its own, before that
 * of the step.
 *
 * @throws JobPersistenceError ERR_SCHEMA_TOO_NEW when the database is made for newer code, ERR_SCHEMA_TOO_OLD when it
 * lacks columns which cannot be added
 */
export async function migrate(
  runner: SqlRunner,
  vocabulary: SchemaVocabulary,
  nowMs: EpochMs,
): Promise<readonly number[]> {
  const applied: number[] = []
  // Most starts find nothing to do, which is seen without a lock.
  let state = await lookAtSchema(runner, vocabulary)
  const inUse = new Set(state.columns.keys())
  const change = <Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> =>
    // Each looks anew at what is there.
    runner.transact(begin, { lock: 'schema', wasCommitted: 'runAgain' })
  for (let next = nextStep(vocabulary, state); next !== undefined; next = nextStep(vocabulary, state)) {
    const { version } = next
    for (const part of partsInUse(next, inUse)) await change(() => applyPart(vocabulary, version, part))
    // A look without the lock may be answered by a replica that lags: it would find the same step to do again.
    const after = await change(() => applyStep(vocabulary, version, nowMs))
    if (after.isApplied) applied.push(version)
    state = after.state
  }
  if (applied.length > 0) return applied
  const made: boolean[] = []
  for (const { what } of planRepairs(vocabulary, state)) {
    made.push(await change(() => repair(vocabulary, what)))
  }
  return made.includes(true) ? [newestSchemaVersion] : []
}

const nextStep = (vocabulary: SchemaVocabulary, state: SchemaState): PlannedMigration | undefined =>
  planMigrations(vocabulary, state)[0]

/** What a step changes in these tables: all columns of one table together, and each index alone, which takes long. */
function partsInUse(step: PlannedMigration, inUse: ReadonlySet<keyof SqlNames>): readonly SchemaChange[][] {
  const parts: SchemaChange[][] = []
  for (const change of step.changes) {
    const { kind, table } = change
    if (kind === 'table' || !inUse.has(table)) continue
    const last = parts.at(-1)
    if (kind === 'column' && last?.[0]?.table === table) last.push(change)
    else parts.push([change])
  }
  return parts
}

/**
 * As `migrate`, for a store that starts. An index that cannot be made again, as by a role that does not own the table,
 * is told of and keeps no store from starting: without it statements are only slow.
 *
 * @throws JobPersistenceError as `migrate`; ERR_SCHEMA_TOO_OLD where the database refuses to change older tables
 */
export async function migrateAtStart(
  runner: SqlRunner,
  vocabulary: SchemaVocabulary,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  try {
    await migrate(runner, vocabulary, clock.now())
  } catch (error) {
    const state = await lookAtSchema(runner, vocabulary)
    const problem = problemOf(vocabulary, state)
    if (problem !== null) throw state.versions.length === 0 ? error : notMigrated(vocabulary, problem, error)
    const lost = planRepairs(vocabulary, state)
    // Another node has made it meanwhile.
    if (lost.length === 0) return
    const what = lost.map((repair) => repair.what).join(', ')
    logger.warn(
      { err: error },
      `the database lacks ${what}, which could not be made; statements are slow without`,
    )
  }
}

/** Such tables are often another role's: nodes may be allowed to read and write rows alone. */
function notMigrated(vocabulary: SchemaVocabulary, problem: string, error: unknown): unknown {
  if (!(error instanceof JobPersistenceError) || error.code !== 'ERR_DATABASE') return error
  return new JobPersistenceError(
    `The database ${problem}, and this process could not migrate it: ${error.message} ` +
      `Where its role may not, run ${commandFor(vocabulary)} as the role that owns the tables.`,
    { code: 'ERR_SCHEMA_TOO_OLD', cause: error },
  )
}

/**
 * Looks without changing anything.
 *
 * @throws JobPersistenceError ERR_SCHEMA_TOO_NEW, ERR_SCHEMA_TOO_OLD
 */
export async function requireSchema(runner: SqlRunner, vocabulary: SchemaVocabulary): Promise<void> {
  const problem = problemOf(vocabulary, await lookAtSchema(runner, vocabulary))
  if (problem === null) return
  throw new JobPersistenceError(
    // Also read by users of the command line, which sets migrate to 'never' by itself.
    `The database ${problem}, and this process does not migrate it. ` +
      `Run ${commandFor(vocabulary)} on it (with --print to see the statements first).`,
    { code: 'ERR_SCHEMA_TOO_OLD' },
  )
}

/** What keeps a store from working on the database; null for nothing. */
function problemOf(vocabulary: SchemaVocabulary, state: SchemaState): string | null {
  if (planMigrations(vocabulary, state).length > 0) {
    return `has no schema of version ${newestSchemaVersion}, or not all of it`
  }
  const lost = planRepairs(vocabulary, state).filter(({ isVital }) => isVital)
  if (lost.length === 0) return null
  return `lacks ${lost.map(({ what }) => what).join(', ')} of its schema of version ${newestSchemaVersion}`
}

function commandFor({ names }: SchemaVocabulary): string {
  return `'npx quartz-ts migrate --store ...${namesOptions(names)}'`
}

/** What `quartz-ts migrate` is to be told of the names of the tables. */
export function namesOptions({ prefix, schema }: Pick<SqlNames, 'prefix' | 'schema'>): string {
  const prefixOption = prefix === 'qrtz_' ? '' : ` --prefix ${prefix}`
  return schema === '' ? prefixOption : `${prefixOption} --schema ${schema.slice(1, -2)}`
}

/** The present state. @throws JobPersistenceError ERR_SCHEMA_TOO_NEW */
export async function lookAtSchema(runner: SqlRunner, vocabulary: SchemaVocabulary): Promise<SchemaState> {
  const state = await runner.read(() => readState(vocabulary))
  refuseNewer(state.versions)
  return state
}

/** Makes a missing part of the steps that were applied; false when another node has made it meanwhile. */
function* repair(vocabulary: SchemaVocabulary, what: string): SqlProgram<boolean> {
  const repairs = planRepairs(vocabulary, yield* readState(vocabulary))
  const planned = repairs.find((each) => each.what === what)
  if (planned === undefined) return false
  for (const each of planned.statements) yield statement(each)
  return true
}

interface PresentStep {
  readonly state: SchemaState
  /** Undefined when another node has applied it. */
  readonly step: PlannedMigration | undefined
}

/** The step of this version as it is planned now, under the lock. */
function* stepStill(vocabulary: SchemaVocabulary, version: number): SqlProgram<PresentStep> {
  const state = yield* readState(vocabulary)
  refuseNewer(state.versions)
  return { state, step: planMigrations(vocabulary, state).find((step) => step.version === version) }
}

/** Makes those of the changes that no other node has made meanwhile. */
function* applyPart(
  vocabulary: SchemaVocabulary,
  version: number,
  part: readonly SchemaChange[],
): SqlProgram<void> {
  const { step } = yield* stepStill(vocabulary, version)
  const missing = new Set(step?.changes.map((change) => change.statement))
  for (const change of part) if (missing.has(change.statement)) yield statement(change.statement)
}

/** Applies what is left of a step, and notes it, unless another node has; answers what is there then. */
function* applyStep(
  vocabulary: SchemaVocabulary,
  version: number,
  nowMs: EpochMs,
): SqlProgram<{ readonly isApplied: boolean; readonly state: SchemaState }> {
  const { dialect, names } = vocabulary
  const { state, step } = yield* stepStill(vocabulary, version)
  if (step === undefined) return { isApplied: false, state }
  for (const create of versionTable(vocabulary)) yield statement(create)
  // First, so that the primary key of this row lets one migration through if the lock does not.
  const claim = sqlQuery<{ version: number; breaking: boolean; appliedMs: number }>(
    dialect,
    `INSERT INTO ${names.schemaVersion} (version, breaking, applied_time)
      VALUES (:version, :breaking, :appliedMs) ON CONFLICT (version) DO NOTHING`,
  )
  const { breaking } = step
  const isApplied = (yield* run(claim({ version, breaking, appliedMs: nowMs }))) > 0
  if (isApplied) for (const change of step.changes) yield statement(change.statement)
  return { isApplied, state: yield* readState(vocabulary) }
}

function* readState({ schema, names }: SchemaVocabulary): SqlProgram<SchemaState> {
  const parts = [...tablesToInspect, 'schemaVersion'] as const
  const tables = parts.map((part) => names[part])
  const columns = new Map<SchemaPart, Set<string>>()
  const indexes = new Map<SchemaPart, StoredIndex[]>()
  // One statement: each start asks for all of it.
  const inventory = statement(
    `SELECT c.place, 'column' AS kind, c.name, NULL AS columns FROM (${schema.columnsOf(tables)}) AS c
     UNION ALL SELECT i.place, 'index', i.name, i.columns FROM (${schema.indexesOf(tables)}) AS i`,
  )
  for (const row of yield* all(inventory)) {
    const part = parts[integer(row, 'place')]
    invariant(part !== undefined, 'a place in the list of tables')
    const name = text(row, 'name')
    if (text(row, 'kind') === 'column') entryOf(columns, part, () => new Set<string>()).add(name)
    else {
      const indexed = textOrNull(row, 'columns')?.split(',').toSorted() ?? []
      entryOf(indexes, part, () => []).push({ name, columns: indexed })
    }
  }
  requireColumns(names.schemaVersion, ['version', 'breaking', 'applied_time'], columns.get('schemaVersion'))
  const versions = columns.has('schemaVersion') ? yield* readVersions(names) : []
  return { versions, columns, indexes }
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

type SchemaPart = (typeof tablesToInspect)[number] | 'schemaVersion'

function* readVersions(names: SqlNames): SqlProgram<SchemaState['versions']> {
  const rows = yield* all(statement(`SELECT version, breaking FROM ${names.schemaVersion}`))
  return rows.map((row) => ({
    version: readable(integer, row, 'version', 0),
    breaking: readable(boolean, row, 'breaking', true),
  }))
}

function refuseNewer(versions: SchemaState['versions']): void {
  const newer = versions.filter(({ version }) => version > newestSchemaVersion)
  if (!newer.some(({ breaking }) => breaking)) return
  const newest = Math.max(...newer.map(({ version }) => version))
  throw new JobPersistenceError(
    `The database has schema version ${newest}, made by a newer release of quartz-ts; ` +
      `this one knows versions up to ${newestSchemaVersion} and would damage it. Update quartz-ts on this node.`,
    { code: 'ERR_SCHEMA_TOO_NEW' },
  )
}

const statement = (sql: string): SqlStatement => ({ text: sql, values: [] })
