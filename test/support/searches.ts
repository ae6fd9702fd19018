import type { SqlRow } from '../../src/jobstore/sql/kernel/statement.ts'
import { searchesUntilAlone } from '../../src/jobstore/sql/tables/triggers/searched-table.ts'
import type { TriggerTable } from '../../src/jobstore/sql/tables/triggers/trigger-table.ts'

/** Answers one search of the table for due triggers with rows of these types; answers the texts of its statements. */
export function searchThatFinds(triggers: TriggerTable, types: readonly string[]): readonly string[] {
  const rows: SqlRow[] = types.map((type) => ({ trigger_name: 't', trigger_group: 'g', trigger_type: type }))
  const texts: string[] = []
  const program = triggers.lockDue({ untilMs: 1, limit: 10, unknownJobTypes: [] })
  for (let step = program.next(); step.done !== true; ) {
    texts.push(step.value.text)
    step = program.next({ rows, changes: 0 })
  }
  return texts
}

/** Has searches find one type until the next one joins its table alone. */
export function findOnly(triggers: TriggerTable, type: string): TriggerTable {
  for (let each = 0; each < searchesUntilAlone; each++) searchThatFinds(triggers, [type])
  return triggers
}
