import {
  all,
  run,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
} from '../../src/jobstore/sql/kernel/statement.ts'

/** A step of a program, for tests that write their statements with the engine's own placeholders. */
export function* rowsOf(text: string, ...values: SqlValue[]): SqlProgram<readonly SqlRow[]> {
  return yield* all({ text, values })
}

export function* changesOf(text: string, ...values: SqlValue[]): SqlProgram<number> {
  return yield* run({ text, values })
}
