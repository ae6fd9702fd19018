import { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import type { JobKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { textOf } from '../../core/thrown-value.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { ExecutingJob } from '../../jobstore/cluster-view.ts'
import type { XxlJobAdmin, XxlJobDefinition } from '../../xxl-job/admin/admin-face.ts'
import { loggedPlaceOf, onceKeys, type RemotePlace } from '../../xxl-job/admin/remote-place.ts'
import { definitionOfData } from '../../xxl-job/admin/run-data.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { runActionJson } from '../wire/action.ts'
import { keyPath, keyToJson, namePath, nothing, textUpTo, wholeQuery } from '../wire/fields.ts'
import {
  executorGroupJson,
  executorLogJson,
  glueJson,
  type XxlJobTypeJson,
  xxlJobReportJson,
  xxlJobsJson,
} from '../wire/xxl-job.ts'
import { countByDay, xxlJobDaysMax } from '../xxl-job-looks.ts'
import { requireJob, runOnce } from './changes.ts'
import { groupsOfExecution } from './runs.ts'

type Call = Pick<OperationCall<unknown, unknown, unknown>, 'scheduler' | 'parts'>

function adminOf({ parts }: Call): XxlJobAdmin {
  if (parts.xxlJob !== null) return parts.xxlJob
  throw new SchedulerError(
    'ERR_NOT_FOUND',
    "There is no admin of XXL-JOB's executors: give the server 'xxlJob'.",
  )
}

/** The executions that go on of jobs of the admin, with the AppName of each. */
async function running(
  call: Call,
): Promise<readonly { readonly job: ExecutingJob; readonly appName: string }[]> {
  const admin = adminOf(call)
  const { jobs } = await call.parts.xxlJobs.of(call.scheduler)
  const appNames = new KeyMap<JobKey, string>()
  for (const { key, jobType, fromData } of jobs) {
    appNames.set(key, (fromData ?? definitionOf(admin, jobType))?.appName ?? '')
  }
  const executing = await call.scheduler.cluster.executingJobs()
  return executing.flatMap((job) => {
    const appName = appNames.get(job.jobKey)
    return appName === undefined ? [] : [{ job, appName }]
  })
}

const listExecutors: Operation = operation({
  id: 'xxlJob.executors',
  method: 'GET',
  path: '/xxl-job/executors',
  summary: "XXL-JOB's executors that the node which was asked can call, by AppName.",
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: z.strictObject({ items: z.array(executorGroupJson) }),
  async handle(call) {
    const admin = adminOf(call)
    const nowMs = call.parts.clock.now()
    const counts = new Map<string, number>()
    for (const { appName } of await running(call)) counts.set(appName, (counts.get(appName) ?? 0) + 1)
    return {
      items: admin.executors().map(({ appName, byHand, executors }) => ({
        appName,
        byHand,
        running: counts.get(appName) ?? 0,
        executors: executors.map(({ address, dialect, silentMs }) => ({
          address,
          dialect,
          lastBeatMs: silentMs === null ? null : Math.round(nowMs - silentMs),
        })),
      })),
    }
  },
})

const listJobs: Operation = operation({
  id: 'xxlJob.jobs',
  method: 'GET',
  path: '/xxl-job/jobs',
  summary: "The job types that XXL-JOB's executors run, and the first stored jobs of these types.",
  role: 'viewer',
  reach: null,
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: null,
  answer: xxlJobsJson,
  async handle(call) {
    const admin = adminOf(call)
    const { jobs, isWhole } = await call.parts.xxlJobs.of(call.scheduler)
    const visible = jobs.filter(({ key }) => call.access.hasOn(key.group, 'viewer'))
    const seen = new Set(visible.map(({ jobType }) => jobType))
    const isViewer = call.access.has('viewer')
    return {
      types: admin
        .definitions()
        .filter(({ jobType }) => isViewer || seen.has(jobType))
        .map(typeToJson),
      jobs: visible.map(({ key, jobType, fromData }) => {
        return { ...keyToJson(key), jobType, fromData: fromData && typeToJson(fromData) }
      }),
      isWhole,
    }
  },
})

function typeToJson({ glue, ...type }: XxlJobDefinition): XxlJobTypeJson {
  return { ...type, glue: glue && { type: glue.type, updatedMs: Number(glue.updated) } }
}

const getGlue: Operation = operation({
  id: 'xxlJob.glue',
  method: 'GET',
  path: '/xxl-job/glue/{name}',
  summary: 'The script or class that executors are sent for a job type.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: namePath,
  query: nothing,
  body: null,
  answer: glueJson,
  async handle(call) {
    const glue = definitionOf(adminOf(call), call.params.name)?.glue ?? null
    if (glue === null)
      throw new SchedulerError('ERR_NOT_FOUND', 'There is no job type of that name with a script.')
    return { type: glue.type, updatedMs: Number(glue.updated), source: glue.source }
  },
})

function definitionOf(admin: XxlJobAdmin, jobType: string): XxlJobDefinition | undefined {
  return admin.definitions().find((each) => each.jobType === jobType)
}

const runOfExecutor: Operation = operation({
  id: 'xxlJob.run',
  method: 'POST',
  path: '/xxl-job/jobs/{group}/{name}/run',
  summary: "Runs a job of XXL-JOB's executors once, now: with another parameter, or on one executor.",
  role: 'operator',
  reach: 'data',
  jobGroups: async ({ params }) => [params.group],
  params: keyPath,
  query: nothing,
  body: z.strictObject({
    param: textUpTo(10_000).optional().describe('Default: what the job says.'),
    address: textUpTo(255).min(1).optional().describe('Default: as the route of the job says.'),
  }),
  answer: runActionJson,
  async handle(call) {
    const admin = adminOf(call)
    const { scheduler, params, body } = call
    const { param, address } = body
    const job = await requireJob(scheduler, params)
    requireExecutor(admin, job, address)
    const data = {
      ...(param !== undefined && { [onceKeys.param]: param }),
      ...(address !== undefined && { [onceKeys.address]: address }),
    }
    return runOnce(call, job.key, data)
  },
})

/** @throws SchedulerError ERR_NOT_FOUND */
function requireExecutor(
  admin: XxlJobAdmin,
  { key, jobType, jobDataMap }: JobDetail,
  address: string | undefined,
): void {
  const isFromData = admin.typesFromData().includes(jobType)
  const definition = isFromData
    ? definitionOfData(jobType, jobDataMap)
    : (definitionOf(admin, jobType) ?? null)
  if (definition === null) {
    throw new SchedulerError('ERR_NOT_FOUND', `The job '${key.toString()}' is none of XXL-JOB's executors.`)
  }
  if (address === undefined) return
  const { appName } = definition
  const group = admin.executors().find((each) => each.appName === appName)
  if (group?.executors.some((each) => each.address === address) === true) return
  throw new SchedulerError('ERR_NOT_FOUND', `No executor of '${appName}' is registered at '${address}'.`)
}

/** The line that says where a run was sent is the first one. */
const linesLookedAt = 20

const readLog: Operation = operation({
  id: 'xxlJob.log',
  method: 'GET',
  path: '/xxl-job/log/{fireInstanceId}',
  summary: 'What the executor has of the log of an execution, running or ended, from a line on.',
  role: 'viewer',
  reach: null,
  jobGroups: groupsOfExecution,
  params: z.strictObject({ fireInstanceId: textUpTo(500).min(1) }),
  query: z.strictObject({ fromLine: wholeQuery(1, Number.MAX_SAFE_INTEGER).default(1) }),
  body: null,
  answer: executorLogJson,
  async handle(call) {
    const admin = adminOf(call)
    const { fromLine } = call.query
    const place = await placeOf(call, call.params.fireInstanceId)
    const { appName, address, logId } = place
    const where = { appName, address, logId, fromLine }
    try {
      const logDateTime = new Date(place.logDateTimeMs)
      const page = await admin.readLog({ appName, address, logId, logDateTime, fromLine })
      const toLine = Math.max(page.toLineNum, fromLine - 1)
      return { ...where, toLine, text: page.logContent, isEnd: page.isEnd, problem: null }
    } catch (error) {
      if (!SchedulerError.is(error) || error.code !== 'ERR_XXL_JOB_RUN') throw error
      return { ...where, toLine: fromLine - 1, text: '', isEnd: false, problem: textOf(error) }
    }
  },
})

/** @throws SchedulerError ERR_NOT_FOUND */
async function placeOf({ scheduler }: Call, fireInstanceId: string): Promise<RemotePlace> {
  const { items } = await scheduler.queryExecutionLog(fireInstanceId, { take: linesLookedAt })
  for (const { fieldsText } of items) {
    const place = loggedPlaceOf(fieldsText)
    if (place !== null) return place
  }
  const message = `It is not known on which executor '${fireInstanceId}' runs, or that it runs on one.`
  throw new SchedulerError('ERR_NOT_FOUND', message)
}

const dailyReport: Operation = operation({
  id: 'xxlJob.report',
  method: 'GET',
  path: '/xxl-job/report',
  summary: 'How many runs ended each day of UTC, and how, and how many go on that began on it.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: z.strictObject({
    days: wholeQuery(1, xxlJobDaysMax).default(7),
  }),
  body: null,
  answer: xxlJobReportJson,
  async handle(call) {
    adminOf(call)
    const { parts, query, scheduler } = call
    const look = await parts.xxlJobDays.of(scheduler)
    const sinceMs = (await running(call)).map(({ job }) => job.fireTimeMs)
    const nowMs = parts.clock.now()
    return { items: countByDay(look, sinceMs, { days: query.days, nowMs }), isWhole: look.isWhole }
  },
})

export const xxlJobOperations: readonly Operation[] = [
  listExecutors,
  listJobs,
  getGlue,
  runOfExecutor,
  readLog,
  dailyReport,
]
