import type { JobDetail } from '../jobs/job-detail.ts'
import { otherJobIsStored } from './refusals.ts'

/**
 * Refuses to change a job that is not stored as the caller has read it.
 *
 * @param stored null when it is not there, or cannot be read
 * @throws SchedulerError ERR_CHANGED_MEANWHILE
 */
export function requireExpectedJob(stored: JobDetail | null, expected: JobDetail | undefined): void {
  if (expected === undefined) return
  if (stored === null || textOf(stored) !== textOf(expected)) throw otherJobIsStored(expected.key)
}

/** A caller who spreads a job to change it may have its fields in another order. */
function textOf({ key, ...fields }: JobDetail): string {
  const entries = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([key.group, key.name, entries])
}
