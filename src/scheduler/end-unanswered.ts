import { JobPersistenceError } from '../core/errors.ts'
import { JobBuilder } from '../jobs/job-builder.ts'
import type { AcquiredTrigger, JobCompletion, JobStore } from '../jobstore/job-store.ts'

/**
 * The store may have fired claims although its answer was lost. Such a firing is ended without a run, because its job
 * would stay blocked for ever. Claims that are still held were not fired; the store ignores the end of one that was not
 * fired.
 *
 * @throws JobPersistenceError when another session has locked the rows of such a firing
 */
export async function endUnanswered(
  jobStore: JobStore,
  claims: readonly AcquiredTrigger[],
  held: readonly AcquiredTrigger[],
): Promise<void> {
  const completions: JobCompletion[] = []
  for (const claim of claims) {
    const { trigger, fireInstanceId } = claim
    const { jobKey } = trigger
    if (jobKey === null || held.includes(claim)) continue
    // For a job that was deleted meanwhile the store needs the key only.
    const jobDetail =
      (await jobStore.getJob(jobKey)) ?? JobBuilder.newJob('deleted').withIdentity(jobKey).build()
    completions.push({
      fireInstanceId,
      // With this state the store deletes the trigger only if it has fired for the last time.
      trigger: trigger.withFireState({
        nextFireTimeMs: null,
        previousFireTimeMs: trigger.nextFireTimeMs,
        timesTriggered: trigger.timesTriggered + 1,
        misfiredFireTimeMs: null,
      }),
      jobDetail,
      instruction: 'deleteTrigger',
      jobDataMap: null,
      retryTrigger: null,
    })
  }
  if (completions.length === 0) return
  const locked = await jobStore.triggeredJobsComplete(completions)
  if (locked.length > 0) throw new JobPersistenceError('A firing whose answer was lost is locked.')
}
