import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { JobAndTriggers } from '../../../job-and-triggers.ts'

/** The keys that requests to schedule touch, to find out whether another request depends on them. */
export class ScheduleFootprint {
  readonly #triggers = new KeySet<TriggerKey>()
  readonly #jobs = new KeySet<JobKey>()
  readonly #namedJobs = new KeySet<JobKey>()

  add({ entries }: { readonly entries: readonly JobAndTriggers[] }): void {
    for (const { job, triggers } of entries) {
      if (job !== null) this.#jobs.add(job.key)
      for (const { key, jobKey } of triggers) {
        this.#triggers.add(key)
        if (jobKey !== null) this.#namedJobs.add(jobKey)
      }
    }
  }

  /** Whether a request stores something that is touched here, or names a job that is stored here. */
  meets({ entries }: { readonly entries: readonly JobAndTriggers[] }): boolean {
    return entries.some(
      ({ job, triggers }) =>
        (job !== null && (this.#jobs.has(job.key) || this.#namedJobs.has(job.key))) ||
        triggers.some(
          ({ key, jobKey }) => this.#triggers.has(key) || (jobKey !== null && this.#jobs.has(jobKey)),
        ),
    )
  }
}
