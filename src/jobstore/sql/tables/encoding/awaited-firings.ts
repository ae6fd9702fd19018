import type { SqlNames } from '../../kernel/sql-names.ts'

/** Whether an execution `f` goes on elsewhere: its result is awaited. */
export function isAwaited({ awaitedResults }: SqlNames): string {
  return `EXISTS (SELECT 1 FROM ${awaitedResults} a WHERE a.sched_name = f.sched_name AND a.fire_id = f.entry_id)`
}
