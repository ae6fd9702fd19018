import { ObjectAlreadyExistsError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type {
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
} from '../../jobs/schedule-options.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { TriggerFamilies } from '../../triggers/families/trigger-families.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { asSeen } from '../ended-trigger.ts'
import { requireExpectedJob } from '../expected-job.ts'
import { requireExpected } from '../expected-trigger.ts'
import type { JobAndTriggers } from '../job-and-triggers.ts'
import type { AddJobRequest } from '../job-store.ts'
import { inPlaceOf } from '../planned-job.ts'
import { jobKeyMismatch, jobNotFound, refusalOf, rescheduledOntoAnother } from '../refusals.ts'
import { entriesUnderCalendars, underCalendar } from '../under-calendar.ts'
import type { RamData } from './ram-data.ts'
import type { RamSession } from './ram-session.ts'
import type { JobRecord } from './records.ts'
import { endLostItemsOf } from './sharding.ts'

export function scheduleJobs(
  data: RamData,
  entries: readonly JobAndTriggers[],
  { replace, nowMs }: { readonly replace: boolean; readonly nowMs: EpochMs },
): void {
  // Everything is checked before anything is stored, so that a refusal changes nothing.
  const refusal = refusalOf(entries, replace, data)
  if (refusal !== null) throw refusal
  const { calendars } = data
  const calendarOf = (trigger: Trigger): Calendar | null => calendars.calendarOf(trigger)
  storeEntries(data, entriesUnderCalendars(entries, { calendarOf, nowMs }))
}

/**
 * Stores what was checked. `inPlace`: triggers as they take the place of those of their key, whose pauses they keep.
 */
export function storeEntries(
  data: RamData,
  entries: readonly JobAndTriggers[],
  inPlace: ReadonlySet<Trigger> = new Set(),
): void {
  for (const { job } of entries) if (job !== null) data.putJob(job)
  let jobsLosingTriggers: Set<JobRecord> | null = null
  for (const { triggers } of entries) {
    for (const trigger of triggers) {
      const record = inPlace.has(trigger) ? data.triggers.get(trigger.key) : undefined
      if (record !== undefined) {
        data.replaceTrigger(record, trigger)
        continue
      }
      const jobLosingTrigger = data.putTrigger(trigger, jobOf(data, trigger))
      if (jobLosingTrigger !== null)
        jobsLosingTriggers = (jobsLosingTriggers ?? new Set()).add(jobLosingTrigger)
    }
  }
  if (jobsLosingTriggers !== null) for (const job of jobsLosingTriggers) data.removeIfOrphan(job)
}

export function addJob(data: RamData, job: JobDetail, { replace, expected }: AddJobRequest): void {
  requireExpectedJob(data.jobs.get(job.key)?.detail ?? null, expected)
  if (!replace && data.jobs.has(job.key)) throw new ObjectAlreadyExistsError('job', job.key.toString())
  data.putJob(job)
}

interface RescheduleParts {
  readonly nowMs: EpochMs
  readonly families: TriggerFamilies
}

export function rescheduleTrigger(
  data: RamData,
  key: TriggerKey,
  trigger: Trigger,
  { goesOnFrom, expected, nowMs, families }: RescheduleOptions & RescheduleParts,
): boolean {
  const record = data.triggers.get(key)
  if (record === undefined) return false
  const { job } = record
  if (trigger.jobKey === null || !job.detail.key.equals(trigger.jobKey)) {
    throw jobKeyMismatch(key, job.detail.key, trigger.jobKey)
  }
  requireExpected(record.trigger, expected, families)
  const keepsKey = key.equals(trigger.key)
  if (!keepsKey && data.triggers.has(trigger.key)) throw rescheduledOntoAnother(trigger.key)
  if (goesOnFrom !== undefined && keepsKey) {
    const calendar = data.calendars.calendarOf(trigger)
    const stored = asSeen(record.trigger, record.state)
    data.replaceTrigger(record, inPlaceOf(stored, { trigger, goesOnFrom, calendar, nowMs }))
    return true
  }
  const calendarOf = (each: Trigger): Calendar | null => data.calendars.calendarOf(each)
  data.putTrigger(underCalendar(trigger, calendarOf(trigger), nowMs), job)
  if (!keepsKey) data.removeTrigger(record)
  return true
}

export function deleteJobs(
  data: RamData,
  keys: readonly JobKey[],
  { expected }: ExpectedJobOptions = {},
): JobKey[] {
  const found = expected && data.jobs.get(expected.key)
  if (found !== undefined) requireExpectedJob(found.detail, expected)
  return keys.filter((key) => {
    const job = data.jobs.get(key)
    if (job !== undefined) data.removeJob(job)
    return job !== undefined
  })
}

export function deleteTriggers(
  session: RamSession,
  keys: readonly TriggerKey[],
  { expected }: ExpectedTriggerOptions = {},
): TriggerKey[] {
  const { data, context } = session
  const found = expected && data.triggers.get(expected.key)
  if (found !== undefined) requireExpected(found.trigger, expected, context.triggerFamilies)
  const jobsLosingTriggers = new Set<JobRecord>()
  const deleted = keys.filter((key) => {
    const record = data.triggers.get(key)
    if (record === undefined) return false
    jobsLosingTriggers.add(record.job)
    data.removeTrigger(record)
    return true
  })
  for (const job of jobsLosingTriggers) {
    endLostItemsOf(session, job)
    data.removeIfOrphan(job)
  }
  return deleted
}

function jobOf(data: RamData, trigger: Trigger): JobRecord {
  const job = trigger.jobKey === null ? undefined : data.jobs.get(trigger.jobKey)
  if (job === undefined) throw jobNotFound(trigger.key, trigger.jobKey)
  return job
}
