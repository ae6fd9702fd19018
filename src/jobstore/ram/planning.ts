import { type JobKey, type TriggerKey, triggerKey } from '../../core/key.ts'
import { asSeen } from '../ended-trigger.ts'
import { isRetryOf } from '../own-triggers.ts'
import {
  isDeclaredUpTo,
  nextFireTimeMsAfter,
  type PlanCircumstances,
  type PlannedJob,
  type PutPlan,
  planChange,
  type SetGeneration,
} from '../planned-job.ts'
import { plannedOntoAnother } from '../refusals.ts'
import { isPausedState } from '../trigger-state.ts'
import type { RamData } from './ram-data.ts'
import type { JobRecord } from './records.ts'
import { deleteJobs } from './scheduling.ts'

export function putPlanned(
  data: RamData,
  planned: PlannedJob,
  circumstances: Omit<PlanCircumstances, 'calendar'>,
): PutPlan {
  const { job, trigger } = planned
  const record = data.triggers.get(triggerKey(job.key.name, job.key.group))
  if (record !== undefined && !record.job.detail.key.equals(job.key)) throw plannedOntoAnother(trigger.key)
  const calendar = data.calendars.calendarOf(trigger)
  const stored = {
    job: data.jobs.get(job.key)?.detail ?? null,
    trigger: record === undefined ? null : asSeen(record.trigger, record.state),
    isPaused: record !== undefined && isPausedState(data.stateOf(record)),
  }
  const change = planChange(stored, planned, { ...circumstances, calendar })
  const jobRecord = change.job === null ? data.jobs.get(job.key) : data.putJob(change.job)
  if (change.dropsTrigger && record !== undefined) data.removeTrigger(record)
  if (change.dropsRetries && jobRecord !== undefined) dropRetries(data, jobRecord, trigger.key)
  if (change.trigger !== null && jobRecord !== undefined) {
    if (record === undefined) data.putTrigger(change.trigger, jobRecord)
    else data.replaceTrigger(record, change.trigger)
  }
  return { ...change, nextFireTimeMs: nextFireTimeMsAfter(change, stored.trigger) }
}

/** Deletes what is to run a failed firing of this trigger again, and does not run yet. */
function dropRetries(data: RamData, job: JobRecord, key: TriggerKey): void {
  for (const record of job.triggers()) {
    if (record.state !== 'COMPLETE' && isRetryOf(record.trigger, key)) data.removeTrigger(record)
  }
}

export function deletePlanned(data: RamData, keys: readonly JobKey[], upTo: SetGeneration): JobKey[] {
  return deleteJobs(
    data,
    keys.filter((key) => isDeclaredUpTo(data.jobs.get(key)?.detail, upTo)),
  )
}
