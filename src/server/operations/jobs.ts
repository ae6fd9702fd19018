import { z } from 'zod'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { JobBuilder } from '../../jobs/job-builder.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { type JobQuery, type JobSummary, queryLimits, type TriggerSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { refuseBlind } from '../attachment.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { unmasked } from '../masking.ts'
import { actionJson, plainActionJson, runActionJson } from '../wire/action.ts'
import { dataJson, type KeyJson, keyJson, keyPath, keyToJson, nothing, textUpTo } from '../wire/fields.ts'
import {
  type JobFieldsJson,
  jobFieldsJson,
  jobJson,
  jobSummaryJson,
  jobSummaryToJson,
  jobToJson,
} from '../wire/jobs.ts'
import {
  cursorsOf,
  eachOf,
  filledPage,
  groupMatcherOf,
  groupQuery,
  pageJson,
  pageQuery,
  visibleTo,
} from '../wire/pages.ts'
import { pauseBody, pauseOptionsOf, requireLater, resumeBody } from '../wire/pauses.ts'
import { triggerDetailJson } from '../wire/triggers.ts'
import { change, changesJob, jobKeyOf, requireJob, requireJobKey, runOnce } from './changes.ts'
import { detailFrom, readableJobBefore, unlessUnreadable, unreadableFrom } from './trigger-details.ts'

const jobPath = '/jobs/{group}/{name}'
const ofJob = async ({ params }: { readonly params: KeyJson }): Promise<readonly string[]> => [params.group]

const listJobs: Operation = operation({
  id: 'jobs.list',
  method: 'GET',
  path: '/jobs',
  summary: 'Lists jobs without their data, by their keys.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({
    ...pageQuery,
    ...groupQuery,
    jobType: textUpTo(500).optional(),
    search: textUpTo(queryLimits.searchLength)
      .optional()
      .describe('Part of the name, the group, the type or the description; A to Z in either case.'),
  }),
  body: null,
  answer: pageJson(jobSummaryJson),
  async handle({ scheduler, params, query, access, parts }) {
    const { take, jobType, search } = query
    const { after, next } = cursorsOf('jobs.list', { params, query }, keyJson)
    const wanted: JobQuery = {
      ...groupMatcherOf(query),
      ...visibleTo(access, 'viewer'),
      ...(jobType !== undefined && { jobType }),
      ...(search !== undefined && { search }),
    }
    const found = await filledPage<JobSummary, JobKey>(
      (size, from) => scheduler.queryJobs({ ...wanted, ...(from && { after: from }), take: size }),
      { take, after: after && new JobKey(after.name, after.group), clock: parts.clock },
    )
    return {
      items: found.items.map(jobSummaryToJson),
      next: next(found.next && keyToJson(found.next)),
    }
  },
})

const getJob: Operation = operation({
  id: 'jobs.get',
  method: 'GET',
  path: jobPath,
  summary: 'A job with its data; values under keys that look secret are masked.',
  role: 'viewer',
  reach: null,
  isVersioned: true,
  jobGroups: ofJob,
  params: keyPath,
  query: nothing,
  body: null,
  answer: jobJson,
  async handle({ scheduler, params, exchange }) {
    const job = jobToJson(await requireJob(scheduler, params))
    exchange.noteStored(job)
    return job
  },
})

const jobTriggers: Operation = operation({
  id: 'jobs.triggers',
  method: 'GET',
  path: `${jobPath}/triggers`,
  summary: 'The triggers of a job, by their keys; also those that cannot be read.',
  role: 'viewer',
  reach: null,
  jobGroups: ofJob,
  params: keyPath,
  query: z.strictObject({ take: pageQuery.take, after: pageQuery.after }),
  body: null,
  answer: pageJson(triggerDetailJson),
  async handle({ scheduler, params, query }) {
    const jobKey = await requireJobKey(scheduler, params)
    const { after, next } = cursorsOf('jobs.triggers', { params, query }, keyJson)
    const found = await scheduler.queryTriggers({
      jobKey,
      take: query.take,
      ...(after !== undefined && { after: new TriggerKey(after.name, after.group) }),
    })
    const triggers = new KeyMap<TriggerKey, Trigger>()
    const keys = found.items.map(({ key }) => key)
    for (const trigger of await scheduler.getTriggers(keys)) triggers.set(trigger.key, trigger)
    const details = await Promise.all(
      found.items.map(async (summary) => {
        const trigger = triggers.get(summary.key)
        return trigger === undefined ? unreadableFrom(scheduler, summary) : detailFrom(trigger, summary)
      }),
    )
    return {
      // One that was deleted since it was listed is left out.
      items: details.filter((detail) => detail !== null),
      next: next(found.next && keyToJson(found.next)),
    }
  },
})

const putJob: Operation = operation({
  id: 'jobs.put',
  method: 'PUT',
  path: jobPath,
  summary:
    'Stores a job, or changes it; its triggers stay. `after` is the job as it is stored; in a dry run, without what ' +
    'its definition adds.',
  role: 'admin',
  reach: 'data',
  isVersioned: true,
  jobGroups: ofJob,
  params: keyPath,
  query: nothing,
  body: jobFieldsJson,
  answer: actionJson(z.strictObject({ before: jobJson.nullable(), after: jobJson })),
  async handle(call) {
    const { scheduler, params, body } = call
    const stored = await scheduler.getJobDetail(jobKeyOf(params))
    const before = stored === null ? null : jobToJson(stored)
    // What is masked stands for values that are stored, so that is asked before they are looked for.
    call.exchange.noteStored(before)
    const job = jobOf(params, body, stored)
    // A dry run does not say that all is well where the request itself is refused.
    if (call.isDryRun && differ(stored, job)) {
      await scheduler.changeDefinitions({ entries: [{ job, triggers: [] }] }, { dryRun: true })
    }
    const after = call.isDryRun || !differ(stored, job) ? job : await putAs(call, job, stored)
    const changed = differ(stored, after)
    return change(call, 'data', {
      wouldChange: () => changed,
      carryOut: async () => changed,
      result: { before, after: jobToJson(after) },
    })
  },
})

function differ(stored: JobDetail | null, job: JobDetail): boolean {
  const textOf = (each: JobDetail): string => JSON.stringify(jobToJson(each, { secrets: true }))
  return stored === null || textOf(stored) !== textOf(job)
}

/** Stores the job; answers it as it is stored, with what its definition adds. */
async function putAs(
  { scheduler, exchange }: OperationCall<KeyJson, unknown, unknown>,
  job: JobDetail,
  stored: JobDetail | null,
): Promise<JobDetail> {
  await scheduler.addJob(job, {
    replace: stored !== null,
    storeNonDurableWhileAwaitingScheduling: true,
    ...(exchange.isOnlyAsRead && stored !== null && { expected: stored }),
  })
  exchange.noteBegun()
  return (await scheduler.getJobDetail(job.key)) ?? job
}

/**
 * The job that a client describes; masked values stand for those that are stored. `dataField`: where its data are.
 *
 * @throws InvalidArgumentError for masked values that stand for nothing
 */
export function jobOf(
  key: KeyJson,
  fields: JobFieldsJson,
  stored: JobDetail | null,
  dataField?: string,
): JobDetail {
  const builder = JobBuilder.newJob(fields.jobType)
    .withIdentity(jobKeyOf(key))
    .storeDurably(fields.durable)
    .disallowConcurrentExecution(fields.disallowConcurrentExecution)
    .persistJobDataAfterExecution(fields.persistJobDataAfterExecution)
    .setJobData(unmasked(fields.jobDataMap, stored?.jobDataMap ?? {}, dataField))
  const { description, timeoutMs, retry, requestsRecovery, nodeAffinity, sharding } = fields
  if (description !== undefined) builder.withDescription(description)
  if (timeoutMs !== undefined) builder.withTimeout(timeoutMs)
  if (retry !== undefined) builder.withRetry(retry)
  // A form sends what is stored: without sharding false is the default, which its definition may change.
  const isSaid = requestsRecovery === true || sharding !== null
  if (requestsRecovery !== undefined && isSaid) builder.requestRecovery(requestsRecovery)
  if (nodeAffinity !== null) builder.onNodes(nodeAffinity.names, { required: nodeAffinity.required })
  const job = builder.withSharding(sharding).build()
  // An edit by hand lasts: what was declared is compared with what is declared next.
  return Object.freeze({ ...job, plan: stored?.plan ?? null })
}

const deleteJob: Operation = operation({
  id: 'jobs.delete',
  method: 'DELETE',
  path: jobPath,
  summary: 'Deletes a job and its triggers, also those that cannot be read.',
  role: 'admin',
  reach: 'data',
  isVersioned: true,
  jobGroups: ofJob,
  params: keyPath,
  query: nothing,
  body: null,
  answer: actionJson(z.strictObject({ triggers: z.number().describe('How many triggers it has.') })),
  async handle(call) {
    const { scheduler, params } = call
    const job = await unlessUnreadable(() => requireJob(scheduler, params))
    const key = jobKeyOf(params)
    call.exchange.noteStored(job === null ? {} : jobToJson(job))
    const before = await readableJobBefore(scheduler, job)
    call.exchange.noteBefore(before)
    return change(call, 'data', {
      wouldChange: () => true,
      async carryOut() {
        const options = call.exchange.isOnlyAsRead && job !== null ? { expected: job } : {}
        const isDeleted = await scheduler.deleteJob(key, options)
        if (!isDeleted) call.exchange.noteStored(null)
        return isDeleted
      },
      result: { triggers: before?.triggers?.length ?? (await countTriggersOf(scheduler, key)) },
    })
  },
})

/** How many triggers a job has, also those that cannot be read. */
async function countTriggersOf(scheduler: Scheduler, jobKey: JobKey): Promise<number> {
  let count = 0
  await eachOf<TriggerSummary, TriggerKey>(
    (after) => scheduler.queryTriggers({ jobKey, take: 1000, ...(after && { after }) }),
    () => count++,
  )
  return count
}

const runJob: Operation = operation({
  id: 'jobs.run',
  method: 'POST',
  path: `${jobPath}/run`,
  summary: 'Runs a job once, now, whatever its triggers say; where groups of it are paused, the run waits.',
  role: 'operator',
  reach: 'data',
  jobGroups: ofJob,
  params: keyPath,
  query: nothing,
  body: z.strictObject({ jobDataMap: dataJson.default({}).describe("Goes over the job's own data.") }),
  answer: runActionJson,
  async handle(call) {
    const { scheduler, params, body } = call
    const { key, jobDataMap } = await requireJob(scheduler, params)
    return runOnce(call, key, unmasked(body.jobDataMap, jobDataMap))
  },
})

interface Verb<Body> {
  readonly verb: 'pause' | 'resume'
  readonly summary: string
  readonly body: z.ZodType<Body>
  readonly carryOut: (call: OperationCall<KeyJson, unknown, Body>, key: JobKey) => Promise<boolean>
}

function steerJob<Body>({ verb, summary, body, carryOut }: Verb<Body>): Operation {
  return operation({
    id: `jobs.${verb}`,
    method: 'POST',
    path: `${jobPath}/${verb}`,
    summary,
    role: 'operator',
    reach: 'data',
    jobGroups: ofJob,
    params: keyPath,
    query: nothing,
    body,
    answer: plainActionJson,
    async handle(call) {
      const { scheduler, params, body: asked, parts } = call
      requireLater(asked, parts.clock.now())
      const key = await requireJobKey(scheduler, params)
      const changes = await changesJob(scheduler, key, verb, asked)
      return change(call, 'data', {
        wouldChange: () => changes,
        carryOut: async () => (await carryOut(call, key)) && changes,
        result: null,
      })
    },
  })
}

const interruptJob: Operation = operation({
  id: 'jobs.interrupt',
  method: 'POST',
  path: `${jobPath}/interrupt`,
  summary: 'Asks all executions of a job to stop, on whatever node they run.',
  role: 'operator',
  reach: 'data',
  jobGroups: ofJob,
  params: keyPath,
  query: nothing,
  body: null,
  answer: plainActionJson,
  async handle(call) {
    const { scheduler, params } = call
    const key = jobKeyOf(params)
    return change(call, 'data', {
      async wouldChange() {
        const executing = await scheduler.cluster.executingJobs()
        const runs = executing.some(({ jobKey }) => jobKey.equals(key))
        if (!runs) refuseBlind(scheduler)
        return runs
      },
      carryOut() {
        call.exchange.noteBegun()
        return scheduler.interrupt(key)
      },
      result: null,
    })
  },
})

export const jobOperations: readonly Operation[] = [
  listJobs,
  getJob,
  jobTriggers,
  putJob,
  deleteJob,
  runJob,
  steerJob({
    verb: 'pause',
    summary: 'Pauses all triggers of a job; the reason and who paused them are listed with it.',
    body: pauseBody,
    carryOut: ({ scheduler, body, access }, key) =>
      scheduler.pauseJob(key, pauseOptionsOf(body, access.principal.name)),
  }),
  steerJob({
    verb: 'resume',
    summary: 'Resumes all triggers of a job.',
    body: resumeBody,
    carryOut: ({ scheduler, body }, key) => scheduler.resumeJob(key, body),
  }),
  interruptJob,
]
