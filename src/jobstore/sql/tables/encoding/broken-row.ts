import { JobPersistenceError } from '../../../../core/errors.ts'

/** The error of a row that could not be read. */
export function brokenRow(
  kind: 'Job' | 'Trigger' | 'Calendar' | 'Firing' | 'Node',
  identity: { toString(): string },
  cause: unknown,
): JobPersistenceError {
  const problem = cause instanceof Error ? cause.message : String(cause)
  return new JobPersistenceError(
    `${kind} '${String(identity)}' cannot be read from the database: ${problem}`,
    { code: 'ERR_BROKEN_ROW', cause },
  )
}

/** What is wrong with a row and what to do about it, without the full stop. */
export function brokenValue(problem: string): JobPersistenceError {
  return new JobPersistenceError(`${problem}.`, { code: 'ERR_BROKEN_ROW' })
}
