import { compareKeys, type JobKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import type { EpochMs } from '../../time/clock.ts'
import {
  addChange,
  dayOf,
  dayText,
  type JobStatus,
  type JobStatusChange,
  type JobStatusQuery,
  newStatusChange,
} from '../job-status.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import type { RamData } from './ram-data.ts'

/** A status, which is all that ever changed it. */
interface StatusRecord {
  readonly change: JobStatusChange
  changedMs: EpochMs
}

/** Jobs of ever new names would fill the memory with statuses. */
const goneMax = 200

/** The status of each job. */
export class RamJobStatus {
  readonly #maxDays: number
  readonly #data: RamData
  readonly #statuses = new KeyMap<JobKey, StatusRecord>()

  constructor(data: RamData, { maxDays }: ResolvedRecordOptions['jobStatus']) {
    this.#data = data
    this.#maxDays = maxDays
  }

  /** Whether a job exists or has a status. */
  keeps(jobKey: JobKey): boolean {
    return this.#statuses.has(jobKey) || this.#data.jobs.has(jobKey)
  }

  write(changes: readonly JobStatusChange[], nowMs: EpochMs): void {
    const oldestDay = dayOf(nowMs) - this.#maxDays
    for (const change of changes) {
      const { jobKey } = change
      if (!this.keeps(jobKey)) continue
      const record = this.#statuses.get(jobKey) ?? { change: newStatusChange(jobKey), changedMs: nowMs }
      this.#statuses.set(jobKey, record)
      addChange(record.change, change)
      record.changedMs = nowMs
      const { days } = record.change
      for (const day of days.keys()) {
        if (day <= oldestDay) days.delete(day)
      }
    }
    if (this.#statuses.size - this.#data.jobs.size > goneMax) this.#forgetGone(Number.POSITIVE_INFINITY)
  }

  query(query: JobStatusQuery, nowMs: EpochMs): Page<JobStatus, JobKey> {
    const size = pageSize('queryJobStatus', query)
    const { after, consecutiveFailures = 0, jobKeys, days = 0 } = query
    const wanted = (jobKeys ?? this.#statuses.keys()).filter((key) => {
      const failures = this.#statuses.get(key)?.change.failures ?? -1
      return failures >= consecutiveFailures && (after === undefined || compareKeys(key, after) > 0)
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
    this.#forgetGone(nowMs - this.#maxDays * 86_400_000)
  }

  #forgetGone(changedBeforeMs: EpochMs): void {
    for (const key of this.#statuses.keys()) {
      const isOld = (this.#statuses.get(key)?.changedMs ?? 0) < changedBeforeMs
      if (isOld && this.#data.jobs.get(key) === undefined) this.#statuses.delete(key)
    }
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
