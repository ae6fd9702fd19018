import type { JobKey } from '../core/key.ts'
import { KeySet } from '../core/key-set.ts'
import { GroupMatcher } from '../core/matcher.ts'
import type { JobStatus } from '../jobstore/job-status.ts'
import type { Scheduler } from './scheduler.ts'

/** Those of at most 1000 statuses whose jobs are stored: a status is kept when its job is deleted. */
export async function ofStoredJobs(
  scheduler: Pick<Scheduler, 'getJobDetails' | 'getJobKeys'>,
  statuses: readonly JobStatus[],
): Promise<readonly JobStatus[]> {
  if (statuses.length === 0) return []
  const keys = statuses.map(({ jobKey }) => jobKey)
  const read = new KeySet((await scheduler.getJobDetails(keys)).map(({ key }) => key))
  // A job that this node cannot read is stored all the same. Many may be deleted: a question for each would be long.
  const groups = new Set(keys.filter((key) => !read.has(key)).map(({ group }) => group))
  const there = new KeySet<JobKey>()
  for (const group of groups) {
    for (const key of await scheduler.getJobKeys(GroupMatcher.groupEquals(group))) there.add(key)
  }
  return statuses.filter(({ jobKey }) => read.has(jobKey) || there.has(jobKey))
}
