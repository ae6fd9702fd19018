import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'

/** How long an execution that has ended waits for the store. */
const answerMaxMs = 1000

/**
 * Whether the store has the job: one of its type under its key. True where the store does not say so in time: then the
 * end of the execution is told as that of any other, and what the store lacks is told when that end is written.
 */
export async function isStored(
  jobStore: Pick<JobStore, 'getJob'>,
  clock: Clock,
  { key, jobType }: Pick<JobDetail, 'key' | 'jobType'>,
): Promise<boolean> {
  let isThere = true
  const look = jobStore.getJob(key).then(
    (job) => {
      isThere = job?.jobType === jobType
    },
    () => {},
  )
  await settledWithin(clock, answerMaxMs, look)
  return isThere
}
