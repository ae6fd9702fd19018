import type { IdGenerator } from '../core/ids.ts'
import { retryingJobsGroup } from '../core/key.ts'
import { type RetryPolicy, retryDelayMs } from '../jobs/retry-policy.ts'
import { type AttemptOrigin, notesOfAttempt } from '../jobstore/attempt-origin.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { recoveryTriggerFor } from '../jobstore/recovery-trigger.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { TriggerBuilder } from '../triggers/families/trigger-builder.ts'
import { instantMaxMs } from '../triggers/invalid-trigger.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { ExecutionContext } from './execution-context.ts'

/** The trigger that runs a job again that the shutdown has interrupted. */
export function recoveryTriggerOf(
  { bundle, scheduler }: ExecutionContext,
  parts: { readonly clock: Clock; readonly ids: IdGenerator },
): Trigger {
  const firing = {
    instanceId: scheduler.schedulerInstanceId,
    triggerKey: bundle.trigger.key,
    jobKey: bundle.jobDetail.key,
    firedTimeMs: bundle.fireTimeMs,
    plannedTimeMs: bundle.scheduledFireTimeMs,
    priority: bundle.trigger.priority,
  }
  return recoveryTriggerFor(firing, bundle.trigger.jobDataMap, parts)
}

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
