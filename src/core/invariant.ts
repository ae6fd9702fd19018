import { SchedulerError } from './errors.ts'

/** States a fact that only a programming error can break. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new SchedulerError('ERR_INVARIANT', `Broken invariant: ${message}`)
}

/** The end of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new SchedulerError('ERR_INVARIANT', `Broken invariant: unexpected value ${String(value)}`)
}
