import type { JobKey } from '../core/key.ts'
import type { ExecutionCursor, ExecutionSummary } from '../jobstore/queries.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { TimeZone } from '../time/zone.ts'
import type { XxlJobAdmin, XxlJobDefinition } from '../xxl-job/admin/admin-face.ts'
import { definitionOfData } from '../xxl-job/admin/run-data.ts'
import type { XxlJobDayJson } from './wire/xxl-job.ts'

/** Most stored jobs that are looked at. */
export const xxlJobsMax = 1000
/** Most executions that a report looks at. */
export const xxlJobRunsMax = 10_000
const pageSize = 1000
const dayMs = 86_400_000

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
    for (const { key } of items) {
      const job = fromData.has(jobType) ? await scheduler.getJobDetail(key) : null
      jobs.push({ key, jobType, fromData: job && definitionOfData(jobType, job.jobDataMap) })
    }
    if (next !== null) return { jobs, isWhole: false }
  }
  return { jobs, isWhole: true }
}

function typesOf(admin: XxlJobAdmin | null): readonly string[] {
  if (admin === null) return []
  return [...admin.definitions().map(({ jobType }) => jobType), ...admin.typesFromData()]
}

/** Runs that have ended, as far as they were looked at. */
export interface XxlJobRunsLook {
  readonly runs: readonly { readonly atMs: number; readonly isGood: boolean }[]
  /** What began before it was not looked at; null when all was. */
  readonly fromMs: number | null
}

/** The executions of such jobs; each item of a sharded firing is one, as XXL-JOB counts parts of a broadcast. */
export async function lookAtXxlJobRuns(
  scheduler: Scheduler,
  admin: XxlJobAdmin | null,
  fromMs: number,
): Promise<XxlJobRunsLook> {
  const types = new Set(typesOf(admin))
  const split = new Set<string>()
  const runs: { atMs: number; isGood: boolean }[] = []
  let after: ExecutionSummary | null = null
  for (let seen = 0; seen < xxlJobRunsMax; seen += pageSize) {
    const { items, next }: Awaited<ReturnType<Scheduler['queryExecutions']>> =
      await scheduler.queryExecutions({
        from: new Date(fromMs),
        take: pageSize,
        ...(after !== null && { after: cursorOf(after) }),
      })
    for (const { jobType, outcome, shard, fireInstanceId, fireTimeMs } of items) {
      if (jobType === null || !types.has(jobType) || outcome === 'vetoed') continue
      if (shard !== null) split.add(shard.firingId)
      // The last ones come first, so the firing as a whole comes after its items.
      if (!split.has(fireInstanceId)) runs.push({ atMs: fireTimeMs, isGood: outcome === 'succeeded' })
    }
    after = items.at(-1) ?? null
    if (next === null || after === null) return { runs, fromMs: null }
  }
  return { runs, fromMs: after?.fireTimeMs ?? null }
}

function cursorOf({ fireTimeMs, fireInstanceId }: ExecutionCursor): ExecutionCursor {
  return { fireTimeMs, fireInstanceId }
}

/** Counts by the day on which a run began, today last. */
export function countByDay(
  { runs }: XxlJobRunsLook,
  runningSinceMs: readonly number[],
  { days, nowMs, zone }: { readonly days: number; readonly nowMs: number; readonly zone: TimeZone },
): readonly XxlJobDayJson[] {
  const dayOf = (ms: number): string => new Date(zone.toLocalMs(ms)).toISOString().slice(0, 10)
  const todayMs = Date.parse(dayOf(nowMs))
  const counts = new Map(
    Array.from({ length: days }, (_, index) => [
      new Date(todayMs - (days - 1 - index) * dayMs).toISOString().slice(0, 10),
      { succeeded: 0, failed: 0, running: 0 },
    ]),
  )
  for (const { atMs, isGood } of runs) {
    const count = counts.get(dayOf(atMs))
    if (count !== undefined) count[isGood ? 'succeeded' : 'failed']++
  }
  for (const atMs of runningSinceMs) {
    const count = counts.get(dayOf(atMs))
    if (count !== undefined) count.running++
  }
  return [...counts].map(([day, count]) => ({
    day,
    total: count.succeeded + count.failed + count.running,
    ...count,
  }))
}
