import { JobPersistenceError } from '../../../core/errors.ts'
import type { EpochMs } from '../../../time/clock.ts'
import { boolean, integer, readable, text } from '../columns.ts'
import type { SqlRunner } from '../sql-runner.ts'
import { all, run, type SqlProgram, type SqlStatement, sqlQuery } from '../statement.ts'
import {
  newestSchemaVersion,
  planMigrations,
  type SchemaState,
  type SchemaVocabulary,
  tablesToInspect,
  versionTable,
} from './plan-migrations.ts'

/** Who brings the schema up to date: the store when it starts, or the user, with the command. */
export type MigrateMode = 'onStart' | 'never'

/**
 * Brings a database up to date, one transaction for each step; answers the versions that were applied. Any number of
 * nodes may do so at once.
 *
 * @throws JobPersistenceError ERR_SCHEMA_TOO_NEW when the database is made for newer code
 */
export async function migrate(
  runner: SqlRunner,
  vocabulary: SchemaVocabulary,
  nowMs: EpochMs,
): Promise<readonly number[]> {
  const applied: number[] = []
  // Most starts find nothing to do, and need no lock to see it.
  if (!(await isOutdated(runner, vocabulary))) return applied
  for (;;) {
    const version = await runner.transact(() => applyNext(vocabulary, nowMs), { lock: 'schema' })
    if (version === null) return applied
    applied.push(version)
  }
}

/**
 * Looks without changing anything.
 *
 * @throws JobPersistenceError ERR_SCHEMA_TOO_NEW, ERR_SCHEMA_TOO_OLD
 */
export async function requireSchema(runner: SqlRunner, vocabulary: SchemaVocabulary): Promise<void> {
  if (!(await isOutdated(runner, vocabulary))) return
  throw new JobPersistenceError(
    `The database has no schema of version ${newestSchemaVersion}, or not all of it, and migrate is 'never'. ` +
      `Run 'npx quartz-ts migrate --store ...' on it (with --print to see the statements first).`,
    { code: 'ERR_SCHEMA_TOO_OLD' },
  )
}

async function isOutdated(runner: SqlRunner, vocabulary: SchemaVocabulary): Promise<boolean> {
  const versions = await runner.read(() => readVersions(vocabulary))
  refuseNewer(versions)
  return planMigrations(vocabulary, { versions, columns: new Map() }).length > 0
}

/** Applies the first step that is missing; null when none is. */
function* applyNext(vocabulary: SchemaVocabulary, nowMs: EpochMs): SqlProgram<number | null> {
  const { dialect, names } = vocabulary
  const state = yield* readState(vocabulary)
  refuseNewer(state.versions)
  const next = planMigrations(vocabulary, state)[0]
  if (next === undefined) return null
  for (const create of versionTable(vocabulary)) yield statement(create)
  // First of all, so that the engine itself lets one migrator through, should the lock fail to.
  const claim = sqlQuery<{ version: number; breaking: boolean; appliedMs: number }>(
    dialect,
    `INSERT INTO ${names.schemaVersion} (version, breaking, applied_time)
      VALUES (:version, :breaking, :appliedMs) ON CONFLICT (version) DO NOTHING`,
  )
  const { version, breaking } = next
  if ((yield* run(claim({ version, breaking, appliedMs: nowMs }))) === 0) return null
  for (const change of next.statements) yield statement(change)
  return version
}

function* readState(vocabulary: SchemaVocabulary): SqlProgram<SchemaState> {
  const columns = new Map<SchemaTable, ReadonlySet<string>>()
  for (const table of tablesToInspect) {
    const found = yield* columnsOf(vocabulary, table)
    if (found.size > 0) columns.set(table, found)
  }
  return { versions: yield* readVersions(vocabulary), columns }
}

type SchemaTable = (typeof tablesToInspect)[number]

function* readVersions(vocabulary: SchemaVocabulary): SqlProgram<SchemaState['versions']> {
  if ((yield* columnsOf(vocabulary, 'schemaVersion')).size === 0) return []
  const rows = yield* all(statement(`SELECT version, breaking FROM ${vocabulary.names.schemaVersion}`))
  return rows.map((row) => ({
    version: readable(integer, row, 'version', 0),
    breaking: readable(boolean, row, 'breaking', true),
  }))
}

function* columnsOf(
  { schema, names }: SchemaVocabulary,
  table: SchemaTable,
): SqlProgram<ReadonlySet<string>> {
  const rows = yield* all(statement(schema.columnsOf(names[table])))
  return new Set(rows.map((row) => text(row, 'name')))
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
