import type { IdGenerator } from '../core/ids.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import { type JobKey, recoveringJobsGroup, recoveryKeys, type TriggerKey } from '../core/key.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { SimpleScheduleBuilder } from '../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../triggers/families/trigger-builder.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { withoutOwner } from './firing-part.ts'

/** A firing whose execution did not come to its end. */
export interface UnfinishedFiring {
  readonly instanceId: string
  readonly triggerKey: TriggerKey
  readonly jobKey: JobKey | null
  readonly firedTimeMs: EpochMs
  readonly plannedTimeMs: EpochMs
  readonly priority: number
}

/** Cut to the length of an instance id, so that the name fits its column. */
const instanceIdLength = 120

/** The trigger that runs an execution again, at once and with the data of its trigger. */
export function recoveryTriggerFor(
  firing: UnfinishedFiring,
  data: JobDataMap,
  { clock, ids }: { readonly clock: Clock; readonly ids: IdGenerator },
): Trigger {
  const { instanceId, jobKey, plannedTimeMs, priority } = firing
  const name = `recover_${Array.from(instanceId).slice(0, instanceIdLength).join('')}_${ids.uniqueName()}`
  let builder = TriggerBuilder.newTrigger({ clock, ids })
    .withIdentity(name, recoveringJobsGroup)
    .startAt(new Date(plannedTimeMs))
    .withPriority(priority)
    .usingJobData({ ...withoutOwner(data), ...(isRecovery(firing, data) ? {} : notesOf(firing)) })
    .withSchedule(SimpleScheduleBuilder.simpleSchedule().withMisfireInstruction('ignore'))
  if (jobKey !== null) builder = builder.forJob(jobKey)
  return builder.build().computeFirstFireTime(null)
}

/** A recovery that does not end itself keeps the notes of the original firing. */
function isRecovery({ triggerKey }: UnfinishedFiring, data: JobDataMap): boolean {
  return triggerKey.group === recoveringJobsGroup && data[recoveryKeys.triggerName] !== undefined
}

function notesOf({ triggerKey, firedTimeMs, plannedTimeMs }: UnfinishedFiring): JobDataMap {
  return {
    [recoveryKeys.triggerName]: triggerKey.name,
    [recoveryKeys.triggerGroup]: triggerKey.group,
    [recoveryKeys.fireTime]: String(firedTimeMs),
    [recoveryKeys.scheduledFireTime]: String(plannedTimeMs),
  }
}
