import { exists } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'

/** Whether an execution `f` goes on elsewhere: its result is awaited. The index of firings alone serves for that. */
export function isAwaited({ dialect, names }: Pick<SqlVocabulary, 'dialect' | 'names'>): string {
  const ofFiring = `a.fire_id = f.entry_id AND a.sched_name || '' = f.sched_name`
  return exists(dialect, `FROM ${names.awaitedResults} AS a WHERE ${ofFiring}`)
}
