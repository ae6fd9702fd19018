import type { PlannedMigration } from '../../src/jobstore/sql/migrations/plan-migrations.ts'

/** The statements of a step of the schema, in order; none where there is no such step. */
export function statementsOfStep(step: PlannedMigration | undefined): readonly string[] {
  return step?.changes.map(({ statement }) => statement) ?? []
}
