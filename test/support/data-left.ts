import type { JobDataMap } from '../../src/core/job-data-map.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { JobCompletion } from '../../src/jobstore/job-store.ts'

/** Key by key: what the run left where that is not what it was given, and otherwise what is stored. */
export function dataLeft(job: JobDetail, { jobDetail: given }: JobCompletion, left: JobDataMap): JobDataMap {
  const texts = (data: JobDataMap): Map<string, string> =>
    new Map(Object.entries(data).map(([key, value]) => [key, JSON.stringify(value)]))
  const [before, after, stored] = [texts(given.jobDataMap), texts(left), texts(job.jobDataMap)]
  const keys = new Set([...before.keys(), ...after.keys(), ...stored.keys()])
  const entries = [...keys].flatMap((key) => {
    const isChanged = before.get(key) !== after.get(key)
    const text = (isChanged ? after : stored).get(key)
    return text === undefined ? [] : [[key, JSON.parse(text) as unknown] as const]
  })
  return Object.fromEntries(entries)
}
