import type { JobAndTriggers } from './job-and-triggers.ts'

/** The part of a store that knows which jobs and triggers it can keep. */
export interface StoreLimits {
  /**
   * Refuses a job or a trigger that the store could not write down, such as one whose name is too long for its column.
   * The scheduler calls it before it writes anything, and for dry runs, so that of a set of schedules none is stored
   * when one is refused. The store reads nothing for it, and refuses the same where it writes. For stores that cannot
   * keep everything; optional.
   *
   * @throws InvalidArgumentError naming the field and the remedy
   */
  requireStorable?(entry: JobAndTriggers): void
}
