import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import { brokenRow, brokenValue } from '../../tables/encoding/broken-row.ts'
import type { DueTrigger } from '../../tables/triggers/trigger-table.ts'
import type { FaultyRow } from '../steps/faulty-triggers.ts'

/** Rows whose text is not what was stored: SQLite keeps bytes that are no text, and reads them with this character. */
const misread = '\uFFFD'

/** The locked rows that are not found by their keys, so that no firing of them could be written. */
export function* namelessOf(
  { session }: SqlTransaction,
  found: readonly DueTrigger[],
): SqlProgram<FaultyRow[]> {
  const odd = found.filter(({ key: { name, group } }) => name.includes(misread) || group.includes(misread))
  if (odd.length === 0) return []
  const named = yield* session.keyLists.jobsOfTriggers(odd.map(({ key }) => key))
  return odd.filter(({ key }) => !named.has(key)).map(namelessRow)
}

/** A locked row that is not found by its key. */
function namelessRow({ key, rowId }: DueTrigger): FaultyRow {
  const error = brokenRow(
    'Trigger',
    key,
    brokenValue('no row is found by this key. Correct or delete the row'),
  )
  return { key, rowId, error }
}
