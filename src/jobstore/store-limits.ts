import type { JobAndTriggers } from './job-and-triggers.ts'

/** The part of a store that knows which jobs and triggers it can keep. */
export interface StoreLimits {
  /**
   * Refuses a job or a trigger that the store could not write down, such as one whose name is too long for its column.
   * The scheduler calls it before it writes declared schedules or an import, and for dry runs, so that none of many is
   * stored when one is refused. The store reads nothing for it. It refuses the same where it writes, and for all other
   * calls only there. For stores that cannot keep everything; optional.
   *
   * @throws InvalidArgumentError naming the field and the remedy
   */
  requireStorable?(entry: JobAndTriggers): void
}
