import { type JobDataMap, reservedDataPrefix } from '../core/job-data-map.ts'
import {
  recoveringJobsGroup,
  recoveryKeys,
  retryingJobsGroup,
  storedTriggerKey,
  type TriggerKey,
} from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import { instantMaxMs } from '../triggers/invalid-trigger.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { firingPartOf } from './firing-part.ts'

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

/** What says where a firing stands. */
interface PlannedFiring {
  readonly trigger: Pick<Trigger, 'key' | 'jobDataMap'>
  readonly scheduledFireTimeMs: EpochMs
}

/** The notes of a retry trigger, as text, because a store that shares its tables with Java keeps strings only. */
export function notesOfAttempt(origin: AttemptOrigin): JobDataMap {
  return {
    [attemptKey]: String(origin.attempt),
    [originalNameKey]: origin.triggerKey.name,
    [originalGroupKey]: origin.triggerKey.group,
    [scheduledTimeKey]: String(origin.scheduledFireTimeMs),
    [previousKey]: origin.previousFireInstanceId,
  }
}

/**
 * Reads the notes of a retry trigger; the recovery trigger of a retry has them too. A trigger without notes is a first
 * attempt.
 */
export function attemptOriginOf(bundle: PlannedFiring): AttemptOrigin {
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
export function recoveredTriggerKey({ trigger: { key, jobDataMap } }: PlannedFiring): TriggerKey | null {
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
