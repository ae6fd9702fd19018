import type { EpochMs } from '../../../time/clock.ts'
import { planMigrations, type SchemaState, type SchemaVocabulary, versionTable } from './plan-migrations.ts'
import { planRepairs } from './plan-repairs.ts'

/** What `migrate` does to a database in this state, as a script in one transaction. */
export function printMigrations(vocabulary: SchemaVocabulary, state: SchemaState, nowMs: EpochMs): string {
  const { names } = vocabulary
  const steps = planMigrations(vocabulary, state).flatMap(({ version, breaking, changes }) => [
    `INSERT INTO ${names.schemaVersion} (version, breaking, applied_time) VALUES (${version}, ${breaking}, ${nowMs})`,
    ...changes.map(({ statement }) => statement),
  ])
  const statements =
    steps.length > 0
      ? [...versionTable(vocabulary), ...steps]
      : planRepairs(vocabulary, state).flatMap((repair) => repair.statements)
  if (statements.length === 0) return '-- Nothing is missing.\n'
  return ['BEGIN', ...statements, 'COMMIT'].map((statement) => `${statement};\n`).join('\n')
}
