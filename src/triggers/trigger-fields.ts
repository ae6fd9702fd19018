import type { JobDataMap } from '../core/job-data-map.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'

/** The default priority. */
export const defaultPriority = 5

/** A repeat count that never runs out. */
export const repeatIndefinitely = -1

/** The fields of every trigger. `null` means "none". */
export interface TriggerFields {
  readonly key: TriggerKey
  /** The job to run; null only until the trigger is scheduled together with a job. */
  readonly jobKey: JobKey | null
  readonly description: string | null
  readonly calendarName: string | null
  /** Merged over the job's own data when the trigger fires. */
  readonly jobDataMap: JobDataMap
  /** Between triggers due at the same millisecond the higher number goes first. Default 5. */
  readonly priority: number
  readonly startTimeMs: EpochMs
  readonly endTimeMs: EpochMs | null
}

/** The part of a trigger that firing changes; empty before the first schedule. */
export interface FireState {
  readonly nextFireTimeMs: EpochMs | null
  readonly previousFireTimeMs: EpochMs | null
  /** Its fires, and those missed ones that its misfire instruction counts. */
  readonly timesTriggered: number
  /** The planned instant that a misfire policy moved to `nextFireTimeMs`; null when nothing was moved. */
  readonly misfiredFireTimeMs: EpochMs | null
}
