import type { IdGenerator } from '../core/ids.ts'
import { reservedDataPrefix } from '../core/job-data-map.ts'
import {
  recoveringJobsGroup,
  recoveryKeys,
  retryingJobsGroup,
  storedTriggerKey,
  type TriggerKey,
} from '../core/key.ts'
import { retryDelayMs } from '../jobs/retry-policy.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import type { EpochMs } from '../time/clock.ts'
import { TriggerBuilder } from '../triggers/families/trigger-builder.ts'
import { instantMaxMs } from '../triggers/invalid-trigger.ts'
import type { Trigger } from '../triggers/trigger.ts'

const attemptKey = `${reservedDataPrefix}RETRY_ATTEMPT`
const originalNameKey = `${reservedDataPrefix}RETRY_ORIG_TRIGGER_NAME`
const originalGroupKey = `${reservedDataPrefix}RETRY_ORIG_TRIGGER_GROUP`
const previousKey = `${reservedDataPrefix}RETRY_PREVIOUS_FIRE_INSTANCE_ID`
const scheduledTimeKey = `${reservedDataPrefix}RETRY_ORIG_SCHEDULED_FIRETIME_IN_MILLISECONDS`

/** Where a firing stands in a series of attempts, by the trigger that planned it. */
export interface AttemptOrigin {
  readonly attempt: number
  readonly triggerKey: TriggerKey
  readonly scheduledFireTimeMs: EpochMs
  /** The execution that failed before; null for a first attempt. */
  readonly previousFireInstanceId: string | null
}

/**
 * Reads the notes that {@link retryTriggerFor} wrote into a retry trigger; the recovery trigger of a retry has them
 * too. A trigger without notes is a first attempt.
 */
export function attemptOriginOf(bundle: TriggerFiredBundle): AttemptOrigin {
  const { key, jobDataMap } = bundle.trigger
  if (key.group === retryingJobsGroup || key.group === recoveringJobsGroup) {
    const attempt = Number(jobDataMap[attemptKey])
    const name = jobDataMap[originalNameKey]
    const group = jobDataMap[originalGroupKey]
    const previous = jobDataMap[previousKey]
    const scheduled = Number(jobDataMap[scheduledTimeKey])
    if (typeof name === 'string' && typeof group === 'string' && isCount(attempt) && isInstant(scheduled)) {
      return {
        attempt,
        triggerKey: storedTriggerKey(name, group),
        scheduledFireTimeMs: scheduled,
        previousFireInstanceId: typeof previous === 'string' ? previous : null,
      }
    }
  }
  const triggerKey = recoveredTriggerKey(bundle) ?? key
  // The trigger of an item begins when the firing was split.
  const scheduledFireTimeMs = firingPartOf(jobDataMap)?.scheduledFireTimeMs ?? bundle.scheduledFireTimeMs
  return { attempt: 1, triggerKey, scheduledFireTimeMs, previousFireInstanceId: null }
}

/** Key of the trigger whose unfinished firing is recovered; null when nothing is. */
export function recoveredTriggerKey({ trigger: { key, jobDataMap } }: TriggerFiredBundle): TriggerKey | null {
  if (key.group !== recoveringJobsGroup) return null
  const name = jobDataMap[recoveryKeys.triggerName]
  const group = jobDataMap[recoveryKeys.triggerGroup]
  return typeof name === 'string' && typeof group === 'string' ? storedTriggerKey(name, group) : null
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}

function isInstant(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= instantMaxMs
}

/**
 * The trigger that runs a failed firing again, or null when its attempts are used up. A retry is a trigger, so that it
 * survives a restart. It has the data of the original trigger, so that the job sees the same data.
 */
export function retryTriggerFor(
  bundle: TriggerFiredBundle,
  origin: Omit<AttemptOrigin, 'previousFireInstanceId'>,
  nowMs: EpochMs,
  ids: IdGenerator,
): Trigger | null {
  const { jobDetail, trigger, fireInstanceId } = bundle
  const policy = jobDetail.retry
  if (policy === null || origin.attempt >= policy.attempts) return null
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
      // Text, because a store that shares its tables with Java keeps strings only.
      [attemptKey]: String(origin.attempt + 1),
      [originalNameKey]: origin.triggerKey.name,
      [originalGroupKey]: origin.triggerKey.group,
      [scheduledTimeKey]: String(origin.scheduledFireTimeMs),
      [previousKey]: fireInstanceId,
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
