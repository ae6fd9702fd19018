import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import type { ScheduleEntry } from '../../../schedule-entry.ts'

/** The keys that requests to schedule touch, to find out whether another request depends on them. */
export class ScheduleFootprint {
  readonly #triggers = new KeyMap<TriggerKey, true>()
  readonly #jobs = new KeyMap<JobKey, true>()
  readonly #namedJobs = new KeyMap<JobKey, true>()

  add({ entries }: { readonly entries: readonly ScheduleEntry[] }): void {
    for (const { job, triggers } of entries) {
      if (job !== null) this.#jobs.set(job.key, true)
      for (const { key, jobKey } of triggers) {
        this.#triggers.set(key, true)
        if (jobKey !== null) this.#namedJobs.set(jobKey, true)
      }
    }
  }

  /** Whether a request stores something that is touched here, or names a job that is stored here. */
  meets({ entries }: { readonly entries: readonly ScheduleEntry[] }): boolean {
    return entries.some(
      ({ job, triggers }) =>
        (job !== null && (this.#jobs.has(job.key) || this.#namedJobs.has(job.key))) ||
        triggers.some(
          ({ key, jobKey }) => this.#triggers.has(key) || (jobKey !== null && this.#jobs.has(jobKey)),
        ),
    )
  }
}
