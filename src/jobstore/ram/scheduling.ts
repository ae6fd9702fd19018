import { JobPersistenceError, ObjectAlreadyExistsError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { ScheduleEntry } from '../job-store.ts'
import { KeyIndex } from './key-index.ts'
import type { RamData } from './ram-data.ts'
import type { JobRecord } from './records.ts'

export function scheduleJobs(
  data: RamData,
  entries: readonly ScheduleEntry[],
  options: { readonly replace: boolean },
): void {
  refuseWhatCannotBeStored(data, entries, options.replace)
  for (const { job } of entries) if (job !== null) data.putJob(job)
  const losers = new Set<JobRecord>()
  for (const { triggers } of entries) {
    for (const trigger of triggers) {
      const loser = data.putTrigger(trigger, jobOf(data, trigger))
      if (loser !== null) losers.add(loser)
    }
  }
  for (const job of losers) data.removeIfOrphan(job)
}

export function addJob(data: RamData, job: JobDetail, options: { readonly replace: boolean }): void {
  if (!options.replace && data.jobs.has(job.key))
    throw new ObjectAlreadyExistsError('job', job.key.toString())
  data.putJob(job)
}

export function rescheduleTrigger(data: RamData, key: TriggerKey, trigger: Trigger): boolean {
  const record = data.triggers.get(key)
  if (record === undefined) return false
  const { job } = record
  if (trigger.jobKey === null || !job.detail.key.equals(trigger.jobKey)) {
    throw new JobPersistenceError(
      `Cannot replace trigger '${key.toString()}' of job '${job.detail.key.toString()}' ` +
        `by one of job '${String(trigger.jobKey)}'. Give the new trigger the key of the same job.`,
      { code: 'ERR_JOB_KEY_MISMATCH' },
    )
  }
  const keepsKey = key.equals(trigger.key)
  if (!keepsKey && data.triggers.has(trigger.key)) {
    throw new ObjectAlreadyExistsError('trigger', trigger.key.toString())
  }
  data.putTrigger(trigger, job)
  if (!keepsKey) data.removeTrigger(record)
  return true
}

export function deleteJobs(data: RamData, keys: readonly JobKey[]): JobKey[] {
  return keys.filter((key) => data.removeJob(key))
}

export function deleteTriggers(data: RamData, keys: readonly TriggerKey[]): TriggerKey[] {
  const losers = new Set<JobRecord>()
  const deleted = keys.filter((key) => {
    const record = data.triggers.get(key)
    if (record === undefined) return false
    losers.add(record.job)
    data.removeTrigger(record)
    return true
  })
  for (const job of losers) data.removeIfOrphan(job)
  return deleted
}

/** Everything is looked at before anything is stored, so that a refusal changes nothing. */
function refuseWhatCannotBeStored(data: RamData, entries: readonly ScheduleEntry[], replace: boolean): void {
  const newJobs = new KeyIndex<true>()
  for (const { job } of entries) {
    if (job === null) continue
    const isTaken = data.jobs.has(job.key) || newJobs.has(job.key)
    if (isTaken && !replace) throw new ObjectAlreadyExistsError('job', job.key.toString())
    if (!newJobs.has(job.key)) newJobs.add(job.key, true)
  }
  const newTriggers = new KeyIndex<true>()
  for (const { triggers } of entries) {
    for (const { key, jobKey } of triggers) {
      const isTaken = data.triggers.has(key) || newTriggers.has(key)
      if (isTaken && !replace) throw new ObjectAlreadyExistsError('trigger', key.toString())
      if (!newTriggers.has(key)) newTriggers.add(key, true)
      if (jobKey === null || !(data.jobs.has(jobKey) || newJobs.has(jobKey))) throw jobNotFound(key, jobKey)
    }
  }
}

function jobOf(data: RamData, trigger: Trigger): JobRecord {
  const job = trigger.jobKey === null ? undefined : data.jobs.get(trigger.jobKey)
  if (job === undefined) throw jobNotFound(trigger.key, trigger.jobKey)
  return job
}

function jobNotFound(key: TriggerKey, jobKey: JobKey | null): JobPersistenceError {
  const found = jobKey === null ? 'names no job' : `names job '${jobKey.toString()}', which does not exist`
  return new JobPersistenceError(
    `Cannot store trigger '${key.toString()}': it ${found}. Store the job first, or together with the trigger.`,
    { code: 'ERR_JOB_NOT_FOUND' },
  )
}
