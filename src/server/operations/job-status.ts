import { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import { JobKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { type JobStatus, noStatus, statusDaysMax } from '../../jobstore/job-status.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { ofStoredJobs } from '../../scheduler/stored-jobs.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { flagQuery, keyJson, keyPath, keyToJson, nothing, wholeQuery } from '../wire/fields.ts'
import { jobStatusJson, jobStatusToJson } from '../wire/job-status.ts'
import { cursorsOf, filteredPage, pageJson, pageQuery } from '../wire/pages.ts'
import { jobKeyOf } from './changes.ts'

const listJobStatus: Operation = operation({
  id: 'jobStatus.list',
  method: 'GET',
  path: '/job-status',
  summary: 'How jobs are doing, by their keys, whether or not their executions are in the history.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({
    ...pageQuery,
    minConsecutiveFailures: wholeQuery(0, Number.MAX_SAFE_INTEGER)
      .default(0)
      .describe('From 1 on: only jobs that are stored and failed at least so many times in a row.'),
    beyondRetries: flagQuery
      .default(false)
      .describe('Only jobs that have failed in a row at least as often as one firing of them is tried.'),
    days: wholeQuery(0, statusDaysMax).default(0).describe('How many days of counts.'),
  }),
  body: null,
  answer: pageJson(jobStatusJson),
  async handle({ scheduler, params, query, access }) {
    const { take, minConsecutiveFailures, beyondRetries, days } = query
    const { after, next } = cursorsOf('jobStatus.list', { params, query }, keyJson)
    const found = await filteredPage<JobStatus, JobKey>(
      (size, from) =>
        scheduler.queryJobStatus({
          take: size,
          minConsecutiveFailures,
          days,
          ...(from !== undefined && { after: from }),
        }),
      { take, after: after && new JobKey(after.name, after.group) },
      access.has('viewer')
        ? null
        : {
            isWanted: ({ jobKey }) => access.hasOn(jobKey.group, 'viewer'),
            keyOf: ({ jobKey }) => jobKey,
          },
    )
    // What failed in a row and was deleted since is nothing that anybody has to look at.
    const stored = minConsecutiveFailures === 0 ? found.items : await ofStoredJobs(scheduler, found.items)
    const items = beyondRetries ? await withoutRetrying(scheduler, stored) : stored
    return {
      items: items.map(jobStatusToJson),
      next: next(found.next && keyToJson(found.next)),
    }
  },
})

/** Those that have failed in a row at least as often as one firing is tried; also those of jobs that cannot be read. */
async function withoutRetrying(
  scheduler: Scheduler,
  statuses: readonly JobStatus[],
): Promise<readonly JobStatus[]> {
  if (statuses.length === 0) return []
  const attempts = new KeyMap<JobKey, number>()
  for (const { key, retry, sharding } of await scheduler.getJobDetails(
    statuses.map(({ jobKey }) => jobKey),
  )) {
    // Of a sharded job only whole firings count, and not the attempts of its items.
    if (retry !== null && sharding === null) attempts.set(key, retry.attempts)
  }
  return statuses.filter(
    ({ jobKey, consecutiveFailures }) => consecutiveFailures >= (attempts.get(jobKey) ?? 1),
  )
}

const getJobStatus: Operation = operation({
  id: 'jobs.status',
  method: 'GET',
  path: '/jobs/{group}/{name}/status',
  summary:
    'How a job is doing, with the counts of all days that are kept; also of one that was deleted, or never ran.',
  role: 'viewer',
  reach: null,
  jobGroups: async ({ params }) => [params.group],
  params: keyPath,
  query: nothing,
  body: null,
  answer: jobStatusJson,
  async handle({ scheduler, params }) {
    const key = jobKeyOf(params)
    const found = await scheduler.getJobStatus(key)
    if (found !== null) return jobStatusToJson(found)
    if (await scheduler.checkExists(key)) return jobStatusToJson(noStatus(key))
    throw new SchedulerError(
      'ERR_NOT_FOUND',
      `There is no job '${key.toString()}', and nothing is known of its executions.`,
    )
  },
})

export const jobStatusOperations: readonly Operation[] = [listJobStatus, getJobStatus]
