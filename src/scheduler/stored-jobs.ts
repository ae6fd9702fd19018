import type { JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { JobStatus } from '../jobstore/job-status.ts'
import type { Scheduler } from './scheduler.ts'

/** Those of at most 1000 statuses whose jobs are stored: a status is kept when its job is deleted. */
export async function ofStoredJobs(
  scheduler: Pick<Scheduler, 'getJobDetails' | 'checkExists'>,
  statuses: readonly JobStatus[],
): Promise<readonly JobStatus[]> {
  if (statuses.length === 0) return []
  const stored = new KeyMap<JobKey, true>()
  for (const { key } of await scheduler.getJobDetails(statuses.map(({ jobKey }) => jobKey))) {
    stored.set(key, true)
  }
  const found: JobStatus[] = []
  for (const status of statuses) {
    // A job that this node cannot read is stored all the same.
    if (stored.has(status.jobKey) || (await scheduler.checkExists(status.jobKey))) found.push(status)
  }
  return found
}
