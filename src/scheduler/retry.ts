import type { IdGenerator } from '../core/ids.ts'
import { retryingJobsGroup } from '../core/key.ts'
import { type RetryPolicy, retryDelayMs } from '../jobs/retry-policy.ts'
import { type AttemptOrigin, notesOfAttempt } from '../jobstore/attempt-origin.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type { EpochMs } from '../time/clock.ts'
import { TriggerBuilder } from '../triggers/families/trigger-builder.ts'
import { instantMaxMs } from '../triggers/invalid-trigger.ts'
import type { Trigger } from '../triggers/trigger.ts'

/**
 * The trigger that runs a failed firing again by its policy. A retry is a trigger, so that it survives a restart. It
 * has the data of the original trigger, so that the job sees the same data.
 */
export function retryTriggerFor(
  bundle: TriggerFiredBundle,
  policy: RetryPolicy,
  origin: Omit<AttemptOrigin, 'previousFireInstanceId'>,
  nowMs: EpochMs,
  ids: IdGenerator,
): Trigger {
  const { jobDetail, trigger, fireInstanceId } = bundle
  const startTimeMs = Math.min(nowMs + retryDelayMs(policy, origin.attempt, ids), instantMaxMs)
  return TriggerBuilder.newTrigger()
    .withIdentity(`RT_${fireInstanceId}_${origin.attempt + 1}`, retryingJobsGroup)
    .withDescription(
      shortened(
        `attempt ${origin.attempt + 1} of ${policy.attempts} for trigger ${origin.triggerKey.toString()}`,
      ),
    )
    .forJob(jobDetail.key)
    .withPriority(trigger.priority)
    .usingJobData({
      ...trigger.jobDataMap,
      ...notesOfAttempt({ ...origin, attempt: origin.attempt + 1, previousFireInstanceId: fireInstanceId }),
    })
    .startAt(new Date(startTimeMs))
    .build()
    .computeFirstFireTime(null)
}

/** Cut to the length that a database column holds. */
function shortened(description: string): string {
  if (description.length <= 250) return description
  const characters = Array.from(description)
  return characters.length <= 250 ? description : `${characters.slice(0, 247).join('')}...`
}
