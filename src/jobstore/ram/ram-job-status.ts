import { compareKeys, type JobKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import type { EpochMs } from '../../time/clock.ts'
import {
  addChange,
  addExecution,
  dayOf,
  dayText,
  endedExecution,
  type JobStatus,
  type JobStatusChange,
  type JobStatusQuery,
  newStatusChange,
} from '../job-status.ts'
import type { JobCompletion } from '../job-store.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import type { RamData } from './ram-data.ts'
import type { JobRecord } from './records.ts'

/** A status, which is all that ever changed it. */
interface StatusRecord {
  readonly change: JobStatusChange
  changedMs: EpochMs
}

/** Jobs of ever new names would fill the memory with statuses. */
const goneMax = 200

/** The status of each job. */
export class RamJobStatus {
  readonly #options: ResolvedRecordOptions['jobStatus']
  readonly #data: RamData
  readonly #statuses = new KeyMap<JobKey, StatusRecord>()
  /** Those of jobs that were removed, in that order; some may have been stored again. */
  readonly #gone = new KeyMap<JobKey, StatusRecord>()

  constructor(data: RamData, options: ResolvedRecordOptions['jobStatus']) {
    this.#data = data
    this.#options = options
    data.onJobRemoved = (key) => {
      this.#noteRemoved(key)
    }
  }

  /** Counts an execution that was completed; not of a job that is gone with it and has no status. */
  count(job: JobRecord, { fireInstanceId, report }: JobCompletion, nowMs: EpochMs): void {
    if (!this.#options.isKept || report === undefined) return
    const { key } = job.detail
    const record = this.#recordOf(key, job.isStored)
    if (record === null) return
    const { days } = record.change
    const dayCount = days.size
    addExecution(record.change, endedExecution({ jobKey: key, fireInstanceId }, report, nowMs))
    this.#noteChange(record, nowMs, days.size > dayCount)
  }

  write(changes: readonly JobStatusChange[], nowMs: EpochMs): void {
    for (const change of changes) {
      const { jobKey } = change
      const record = this.#recordOf(jobKey, this.#data.jobs.has(jobKey))
      if (record === null) continue
      addChange(record.change, change, nowMs)
      this.#noteChange(record, nowMs, true)
    }
  }

  query(query: JobStatusQuery, nowMs: EpochMs): Page<JobStatus, JobKey> {
    const size = pageSize('queryJobStatus', query)
    const { after, minConsecutiveFailures = 0, jobKeys, days = 0 } = query
    const wanted = (jobKeys ?? this.#statuses.keys()).filter((key) => {
      const failures = this.#statuses.get(key)?.change.failures ?? -1
      return failures >= minConsecutiveFailures && (after === undefined || compareKeys(key, after) > 0)
    })
    const keys = wanted.sort(compareKeys).slice(0, size + 1)
    const items = keys.slice(0, size).flatMap((key) => {
      const change = this.#statuses.get(key)?.change
      return change === undefined ? [] : [statusOf(change, dayOf(nowMs) - days)]
    })
    return { items, next: keys.length > size ? (items.at(-1)?.jobKey ?? null) : null }
  }

  /** Deletes the status of jobs that are gone and have not run since. */
  prune(nowMs: EpochMs): void {
    const beforeMs = nowMs - this.#options.maxDays * 86_400_000
    this.#forgetStoredAgain()
    for (const key of this.#gone.keys()) {
      if ((this.#gone.get(key)?.changedMs ?? 0) < beforeMs) this.#forget(key)
    }
  }

  /** Null for a job that is gone and has no status. */
  #recordOf(jobKey: JobKey, jobExists: boolean): StatusRecord | null {
    const known = this.#statuses.get(jobKey)
    if (known !== undefined || !jobExists) return known ?? null
    const record: StatusRecord = { change: newStatusChange(jobKey), changedMs: 0 }
    this.#statuses.set(jobKey, record)
    return record
  }

  #noteChange(record: StatusRecord, nowMs: EpochMs, hasNewDay: boolean): void {
    record.changedMs = nowMs
    if (hasNewDay) forgetDays(record.change, dayOf(nowMs) - this.#options.maxDays)
  }

  #noteRemoved(key: JobKey): void {
    const record = this.#statuses.get(key)
    if (record === undefined) return
    this.#gone.delete(key)
    this.#gone.set(key, record)
    if (this.#gone.size <= goneMax) return
    this.#forgetStoredAgain()
    for (const oldest of this.#gone.keys().slice(0, Math.max(0, this.#gone.size - goneMax)))
      this.#forget(oldest)
  }

  #forgetStoredAgain(): void {
    for (const key of this.#gone.keys()) {
      if (this.#data.jobs.get(key) !== undefined) this.#gone.delete(key)
    }
  }

  #forget(key: JobKey): void {
    this.#gone.delete(key)
    this.#statuses.delete(key)
  }
}

function forgetDays({ days }: JobStatusChange, lastDay: number): void {
  for (const day of days.keys()) {
    if (day <= lastDay) days.delete(day)
  }
}

function statusOf(change: JobStatusChange, afterDay: number): JobStatus {
  const { jobKey, last, lastSuccessTimeMs, lastFailureTimeMs, lastErrorText, failures } = change
  return {
    jobKey,
    lastFireInstanceId: last?.fireInstanceId ?? null,
    lastFireTimeMs: last?.fireTimeMs ?? null,
    lastFinishedTimeMs: last?.finishedTimeMs ?? null,
    lastOutcome: last?.outcome ?? null,
    lastSuccessTimeMs,
    lastFailureTimeMs,
    lastErrorText,
    consecutiveFailures: failures,
    days: [...change.days]
      .filter(([day]) => day > afterDay)
      .sort(([a], [b]) => b - a)
      .map(([day, { counts, runTimeMs }]) => ({ day: dayText(day), counts: { ...counts }, runTimeMs })),
  }
}
