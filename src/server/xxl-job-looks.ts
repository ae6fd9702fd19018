import type { JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import { dayOf, dayText } from '../jobstore/job-status.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { XxlJobAdmin, XxlJobDefinition } from '../xxl-job/admin/admin-face.ts'
import { definitionOfData } from '../xxl-job/admin/run-data.ts'
import type { XxlJobDayJson } from './wire/xxl-job.ts'

/** Most stored jobs that are looked at. */
const xxlJobsMax = 1000
/** For how many days a report counts at most. */
export const xxlJobDaysMax = 31

/** Stored jobs of the types that `xxlJob` and `xxlJobFromData` defined. */
export interface XxlJobsLook {
  readonly jobs: readonly XxlJobLook[]
  readonly isWhole: boolean
}

interface XxlJobLook {
  readonly key: JobKey
  readonly jobType: string
  /** What its data say that is sent; null where its type says it, or the data make no sense. */
  readonly fromData: XxlJobDefinition | null
}

export async function lookAtXxlJobs(scheduler: Scheduler, admin: XxlJobAdmin | null): Promise<XxlJobsLook> {
  const jobs: XxlJobLook[] = []
  const fromData = new Set(admin?.typesFromData())
  for (const jobType of typesOf(admin)) {
    const room = xxlJobsMax - jobs.length
    if (room === 0) return { jobs, isWhole: false }
    const { items, next } = await scheduler.queryJobs({ jobType, take: room })
    const keys = items.map(({ key }) => key)
    const definitions = fromData.has(jobType)
      ? await definitionsOfData(scheduler, keys, jobType)
      : new KeyMap<JobKey, XxlJobDefinition | null>()
    for (const key of keys) jobs.push({ key, jobType, fromData: definitions.get(key) ?? null })
    if (next !== null) return { jobs, isWhole: false }
  }
  return { jobs, isWhole: true }
}

async function definitionsOfData(
  scheduler: Scheduler,
  keys: readonly JobKey[],
  jobType: string,
): Promise<KeyMap<JobKey, XxlJobDefinition | null>> {
  const definitions = new KeyMap<JobKey, XxlJobDefinition | null>()
  for (const { key, jobDataMap } of await scheduler.getJobDetails(keys)) {
    definitions.set(key, definitionOfData(jobType, jobDataMap))
  }
  return definitions
}

function typesOf(admin: XxlJobAdmin | null): readonly string[] {
  if (admin === null) return []
  return [...admin.definitions().map(({ jobType }) => jobType), ...admin.typesFromData()]
}

/** How runs went that ended on one day; the days are those of UTC. */
export type XxlJobDayCounts = Pick<XxlJobDayJson, 'succeeded' | 'failed'>

export interface XxlJobDaysLook {
  readonly days: ReadonlyMap<string, XxlJobDayCounts>
  /** False where there are more jobs than were looked at. */
  readonly isWhole: boolean
}

/**
 * The sums of what the store counts of each job, also of executions that are not in the history any more. Each attempt
 * and each item of a sharded firing is one run, as XXL-JOB counts retries and parts of a broadcast.
 */
export async function lookAtXxlJobDays(
  scheduler: Scheduler,
  admin: XxlJobAdmin | null,
): Promise<XxlJobDaysLook> {
  const { jobs, isWhole } = await lookAtXxlJobs(scheduler, admin)
  const days = new Map<string, { succeeded: number; failed: number }>()
  if (jobs.length === 0) return { days, isWhole }
  const { items } = await scheduler.queryJobStatus({
    jobKeys: jobs.map(({ key }) => key),
    days: xxlJobDaysMax,
    take: xxlJobsMax,
  })
  for (const { day, counts } of items.flatMap((status) => status.days)) {
    const sum = days.get(day) ?? { succeeded: 0, failed: 0 }
    sum.succeeded += counts.succeeded
    sum.failed += counts.failed + counts.timedOut + counts.interrupted + counts.lost
    days.set(day, sum)
  }
  return { days, isWhole }
}

/** Counts by day, today last: of runs that ended on it, and of those that began on it and still go on. */
export function countByDay(
  { days: counted }: Pick<XxlJobDaysLook, 'days'>,
  runningSinceMs: readonly number[],
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): readonly XxlJobDayJson[] {
  const running = runningSinceMs.map((ms) => dayOf(ms))
  const today = dayOf(nowMs)
  return Array.from({ length: days }, (_, index) => {
    const number = today - (days - 1 - index)
    const day = dayText(number)
    const { succeeded, failed } = counted.get(day) ?? { succeeded: 0, failed: 0 }
    const goOn = running.filter((each) => each === number).length
    return { day, total: succeeded + failed + goOn, succeeded, failed, running: goOn }
  })
}
