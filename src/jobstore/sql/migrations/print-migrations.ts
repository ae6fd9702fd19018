import type { EpochMs } from '../../../time/clock.ts'
import { planMigrations, type SchemaState, type SchemaVocabulary, versionTable } from './plan-migrations.ts'

/** The statements of `migrate` for a database in this state, as a script in one transaction. */
export function printMigrations(vocabulary: SchemaVocabulary, state: SchemaState, nowMs: EpochMs): string {
  const { names } = vocabulary
  const steps = planMigrations(vocabulary, state).flatMap(({ version, breaking, statements }) => [
    `INSERT INTO ${names.schemaVersion} (version, breaking, applied_time) VALUES (${version}, ${breaking}, ${nowMs})`,
    ...statements,
  ])
  const script = ['BEGIN', ...versionTable(vocabulary), ...steps, 'COMMIT']
  return script.map((statement) => `${statement};\n`).join('\n')
}
