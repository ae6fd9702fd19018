import type { JobDataMap } from '../core/job-data-map.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobPlan } from '../jobs/job-plan.ts'

/** The data of a job, and how it was declared. */
export type JobDataAndPlan = Pick<JobDetail, 'jobDataMap' | 'plan'>

interface DeclaredData {
  readonly jobDataMap: JobDataMap
  readonly plan: JobPlan
}

/** Whether the same data were declared. */
export function hasSameData(before: JobPlan, plan: JobPlan): boolean {
  const keys = Object.keys(plan.data)
  if (keys.length !== Object.keys(before.data).length) return false
  return keys.every((key) => before.data[key] === plan.data[key])
}

/** The stored data with those entries changed that are declared otherwise than before. */
export function changedData(
  stored: JobDataMap,
  before: JobPlan | null,
  { jobDataMap: declared, plan }: DeclaredData,
): JobDataMap {
  const isDropped = (key: string): boolean =>
    before !== null && Object.hasOwn(before.data, key) && !Object.hasOwn(plan.data, key)
  const data = Object.fromEntries(Object.entries(stored).filter(([key]) => !isDropped(key)))
  for (const [key, digest] of Object.entries(plan.data)) {
    if (before?.data[key] !== digest) data[key] = declared[key]
  }
  return data
}

/**
 * The data to store after a run: those that are stored by now, with the keys that the run changed or deleted as it left
 * them. What was declared otherwise while it ran stays as declared, also where the run changed it: to the next
 * declaration it is the same, so nothing would ever change it again.
 */
export function dataAfterRun(left: JobDataMap, given: JobDataAndPlan, stored: JobDataAndPlan): JobDataMap {
  const data = withChanges(stored.jobDataMap, given.jobDataMap, left)
  const { plan } = stored
  if (given.plan === null || plan === null || hasSameData(given.plan, plan)) return data
  return changedData(data, given.plan, { jobDataMap: stored.jobDataMap, plan })
}

/** The stored data with what changed from the given data to those that were left. */
function withChanges(stored: JobDataMap, given: JobDataMap, left: JobDataMap): JobDataMap {
  if (stored === given) return left
  const isDeleted = (key: string): boolean => Object.hasOwn(given, key) && !Object.hasOwn(left, key)
  const data = Object.fromEntries(Object.entries(stored).filter(([key]) => !isDeleted(key)))
  for (const [key, value] of Object.entries(left)) {
    if (!Object.hasOwn(given, key) || !isSameValue(given[key], value)) data[key] = value
  }
  return Object.freeze(data)
}

function isSameValue(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
