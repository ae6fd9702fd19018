import { JobPersistenceError } from '../../../../core/errors.ts'

/** Says which row it was that could not be read. */
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

/** What is wrong with a row, and what to do about it, as a sentence without its end. */
export function brokenValue(problem: string): JobPersistenceError {
  return new JobPersistenceError(`${problem}.`, { code: 'ERR_BROKEN_ROW' })
}
