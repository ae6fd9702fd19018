import type { AuditEntry } from '../../../src/jobstore/audit.ts'
import type { SchedulerNode } from '../../../src/jobstore/cluster-view.ts'
import type { ExecutionLogLine } from '../../../src/jobstore/execution-log.ts'
import type { BulkJson } from '../../../src/server/bulk/bulk-runs.ts'
import type { ExecutionStatsJson } from '../../../src/server/execution-stats.ts'
import type { AlertsJson, AlertTestJson, SilenceJson } from '../../../src/server/operations/alerts.ts'
import type { AuthJson } from '../../../src/server/operations/auth.ts'
import type { CalendarJson, ListedCalendarJson } from '../../../src/server/operations/calendars.ts'
import type { CompletionJson } from '../../../src/server/operations/completion.ts'
import type { CronPreviewJson } from '../../../src/server/operations/cron.ts'
import type { NodeChangeJson } from '../../../src/server/operations/nodes.ts'
import type { OverviewJson } from '../../../src/server/operations/overview.ts'
import type { LoadJson, PlannedJson } from '../../../src/server/operations/planned.ts'
import type { GroupsJson } from '../../../src/server/operations/scheduler.ts'
import type { SessionJson } from '../../../src/server/operations/sessions.ts'
import type { ActionJson, RunJson } from '../../../src/server/wire/action.ts'
import type { KeyJson } from '../../../src/server/wire/fields.ts'
import type { JobStatusJson } from '../../../src/server/wire/job-status.ts'
import type { JobFieldsJson, JobJson, JobSummaryJson } from '../../../src/server/wire/jobs.ts'
import type { MisfireJson, MisfireStatsJson } from '../../../src/server/wire/misfires.ts'
import type { PageJson } from '../../../src/server/wire/pages.ts'
import type { PauseBody } from '../../../src/server/wire/pauses.ts'
import type {
  ExecutingJson,
  ExecutionDetailsJson,
  ExecutionJson,
  SchedulerJson,
  SeenJson,
} from '../../../src/server/wire/runs.ts'
import type { ShardsJson } from '../../../src/server/wire/shards.ts'
import type {
  TriggerDetailJson,
  TriggerFieldsJson,
  TriggerSummaryJson,
} from '../../../src/server/wire/triggers.ts'
import type {
  ExecutorGroupJson,
  ExecutorLogJson,
  GlueJson,
  XxlJobReportJson,
  XxlJobsJson,
} from '../../../src/server/wire/xxl-job.ts'
import type { CalendarDefinition } from '../../../src/triggers/calendars/calendar.ts'

type Nothing = undefined
type Data = Readonly<Record<string, unknown>>
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** What a call of one operation sends and is answered. */
interface Shape<Params, Body, Answer> {
  readonly params: Params
  readonly body: Body
  readonly answer: Answer
}

type Items<Item> = { readonly items: readonly Item[] }
type Get<Params, Answer> = Shape<Params, Nothing, Answer>
type Act<Params, Body = Nothing, Result = null> = Shape<Params, Body, ActionJson<Result>>
type ItemOfJob = KeyJson & { readonly item: string }

/** The operations of the HTTP API that pages call, with the server's own types. */
export interface Operations {
  'session.get': Get<Nothing, SessionJson>
  'session.begin': Shape<Nothing, { token: string } | { name: string; password: string }, { name: string }>
  'session.end': Get<Nothing, Record<string, never>>
  'schedulers.list': Get<Nothing, Items<SchedulerJson>>
  'scheduler.get': Get<Nothing, SchedulerJson>
  'scheduler.overview': Get<Nothing, OverviewJson>
  'scheduler.start': Act<Nothing>
  'scheduler.standby': Act<Nothing>
  'scheduler.pauseAll': Act<Nothing>
  'scheduler.resumeAll': Act<Nothing>
  'groups.list': Get<Nothing, GroupsJson>
  'jobGroups.pause': Act<{ group: string }>
  'jobGroups.resume': Act<{ group: string }>
  'triggerGroups.pause': Act<{ group: string }>
  'triggerGroups.resume': Act<{ group: string }>
  'jobs.list': Get<Nothing, PageJson<JobSummaryJson>>
  'jobs.get': Get<KeyJson, JobJson>
  'jobs.status': Get<KeyJson, JobStatusJson>
  'jobStatus.list': Get<Nothing, PageJson<JobStatusJson>>
  'jobs.triggers': Get<KeyJson, PageJson<TriggerDetailJson>>
  'jobs.shards': Get<KeyJson, ShardsJson>
  'jobs.disableShard': Act<ItemOfJob, Nothing, object>
  'jobs.enableShard': Act<ItemOfJob, Nothing, object>
  'jobs.put': Act<KeyJson, JobFieldsJson, { before: JobJson | null; after: JobJson }>
  'jobs.delete': Act<KeyJson, Nothing, { triggers: number }>
  'jobs.run': Act<KeyJson, { jobDataMap: Data }, RunJson>
  'jobs.pause': Act<KeyJson, PauseBody>
  'jobs.resume': Act<KeyJson, ResumeBody>
  'jobs.interrupt': Act<KeyJson>
  'triggers.list': Get<Nothing, PageJson<TriggerSummaryJson>>
  'triggers.get': Get<KeyJson, TriggerDetailJson>
  'triggers.fireTimes': Get<KeyJson, { readonly fireTimesMs: readonly number[] }>
  'triggers.put': Act<KeyJson, TriggerFieldsJson, TriggerEdit>
  'triggers.delete': Act<KeyJson>
  'triggers.run': Act<KeyJson, { jobDataMap: Data }, RunJson>
  'triggers.pause': Act<KeyJson, PauseBody>
  'triggers.resume': Act<KeyJson, ResumeBody>
  'triggers.skipNext': Act<
    KeyJson,
    { readonly expectedMs?: number },
    { readonly skippedMs: number; readonly nextMs: number | null } | null
  >
  'triggers.resetError': Act<KeyJson>
  'executing.list': Get<Nothing, SeenJson<ExecutingJson>>
  'executing.interrupt': Act<{ fireInstanceId: string }>
  'executions.list': Get<Nothing, PageJson<ExecutionJson>>
  'executions.get': Get<{ fireInstanceId: string }, ExecutionDetailsJson>
  'executions.log': Get<
    { fireInstanceId: string },
    { readonly items: readonly ExecutionLogLine[]; readonly next: number | null }
  >
  'executions.stats': Get<Nothing, ExecutionStatsJson>
  'audit.list': Get<Nothing, PageJson<AuditEntry>>
  'auth.list': Get<Nothing, AuthJson>
  'misfires.list': Get<Nothing, PageJson<MisfireJson>>
  'misfires.stats': Get<Nothing, MisfireStatsJson>
  'completion.list': Get<Nothing, Items<CompletionJson>>
  'nodes.list': Get<Nothing, SeenJson<SchedulerNode>>
  'nodes.start': Act<{ instanceId: string }, Nothing, NodeChangeJson>
  'nodes.standby': Act<{ instanceId: string }, Nothing, NodeChangeJson>
  'nodes.drain': Act<{ instanceId: string }, Nothing, NodeChangeJson>
  'nodes.remove': Act<{ instanceId: string }, Nothing, NodeChangeJson>
  'cron.preview': Get<Nothing, CronPreviewJson>
  'planned.list': Get<Nothing, PlannedJson>
  'planned.load': Get<Nothing, LoadJson>
  'calendars.list': Get<Nothing, Items<ListedCalendarJson>>
  'calendars.get': Get<{ name: string }, CalendarJson & { readonly triggers: number | null }>
  'calendars.days': Get<{ name: string }, CalendarDays>
  'calendars.put': Act<{ name: string }, CalendarBody, CalendarEdit>
  'calendars.delete': Act<{ name: string }>
  'alerts.list': Get<Nothing, AlertsJson>
  'alerts.silence': Act<Nothing, SilenceBody, SilenceJson | null>
  'alerts.endSilence': Act<{ id: string }>
  'alerts.test': Act<Nothing, { channel?: string }, readonly AlertTestJson[]>
  'xxlJob.executors': Get<Nothing, Items<ExecutorGroupJson>>
  'xxlJob.jobs': Get<Nothing, XxlJobsJson>
  'xxlJob.glue': Get<{ name: string }, GlueJson>
  'xxlJob.run': Act<KeyJson, { param?: string; address?: string }, RunJson>
  'xxlJob.log': Get<{ fireInstanceId: string }, ExecutorLogJson>
  'xxlJob.report': Get<Nothing, XxlJobReportJson>
  'bulk.begin': Act<Nothing, BulkBody, BulkBegun>
  'bulk.list': Get<Nothing, Items<BulkJson>>
  'bulk.get': Get<{ id: string }, BulkJson>
  'bulk.stop': Act<{ id: string }>
}

export interface TriggerEdit {
  readonly before: TriggerFieldsJson | null
  readonly beforeMs: readonly number[]
  readonly after: TriggerFieldsJson
  readonly afterMs: readonly number[]
}

export interface CalendarDays {
  readonly timeZone: string
  readonly days: readonly { readonly day: string; readonly is: 'included' | 'excluded' | 'partial' }[]
}

interface CalendarBody {
  readonly definition: CalendarDefinition
  readonly updateTriggers: boolean
}

export interface CalendarEdit {
  readonly before: CalendarDefinition | null
  readonly after: CalendarDefinition
  readonly triggers: number | null
  readonly moved: number | null
  readonly first: readonly {
    readonly key: KeyJson
    readonly beforeMs: number | null
    readonly afterMs: number | null
  }[]
}

interface SilenceBody {
  readonly rule?: string
  readonly subject?: string
  readonly untilMs: number
  readonly reason: string
}

type ResumeBody = { readonly withoutMissed: boolean }

export interface BulkFilter {
  readonly group?: string
  readonly groupMatch?: 'equals' | 'startsWith' | 'endsWith' | 'contains'
  readonly search?: string
  readonly jobType?: string
  readonly state?: TriggerSummaryJson['state']
  readonly calendarName?: string
}

export interface BulkBody {
  readonly action: 'pause' | 'resume' | 'run' | 'delete'
  readonly of: 'jobs' | 'triggers'
  readonly filter: BulkFilter
  readonly expected: number | null
  readonly digest: string | null
}

interface BulkBegun {
  readonly count: number
  readonly digest: string
  readonly first: readonly KeyJson[]
  readonly paused: number
  readonly bulk: BulkJson | null
}

export type OperationId = keyof Operations

interface RouteOf {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** Of the server, and not of one scheduler. */
  readonly isServerWide?: true
}

const job = '/jobs/{group}/{name}'
const trigger = '/triggers/{group}/{name}'

/** Where they are; a test compares with the server's catalogue. */
export const routes: Readonly<Record<OperationId, RouteOf>> = {
  'session.get': { method: 'GET', path: '/session', isServerWide: true },
  'session.begin': { method: 'POST', path: '/session', isServerWide: true },
  'session.end': { method: 'DELETE', path: '/session', isServerWide: true },
  'schedulers.list': { method: 'GET', path: '/schedulers', isServerWide: true },
  'scheduler.get': { method: 'GET', path: '/scheduler' },
  'scheduler.overview': { method: 'GET', path: '/overview' },
  'scheduler.start': { method: 'POST', path: '/scheduler/start' },
  'scheduler.standby': { method: 'POST', path: '/scheduler/standby' },
  'scheduler.pauseAll': { method: 'POST', path: '/scheduler/pause-all' },
  'scheduler.resumeAll': { method: 'POST', path: '/scheduler/resume-all' },
  'groups.list': { method: 'GET', path: '/groups' },
  'jobGroups.pause': { method: 'POST', path: '/job-groups/{group}/pause' },
  'jobGroups.resume': { method: 'POST', path: '/job-groups/{group}/resume' },
  'triggerGroups.pause': { method: 'POST', path: '/trigger-groups/{group}/pause' },
  'triggerGroups.resume': { method: 'POST', path: '/trigger-groups/{group}/resume' },
  'jobs.list': { method: 'GET', path: '/jobs' },
  'jobs.get': { method: 'GET', path: job },
  'jobs.status': { method: 'GET', path: `${job}/status` },
  'jobStatus.list': { method: 'GET', path: '/job-status' },
  'jobs.triggers': { method: 'GET', path: `${job}/triggers` },
  'jobs.shards': { method: 'GET', path: '/jobs/{group}/{name}/shards' },
  'jobs.disableShard': { method: 'POST', path: '/jobs/{group}/{name}/shards/{item}/disable' },
  'jobs.enableShard': { method: 'POST', path: '/jobs/{group}/{name}/shards/{item}/enable' },
  'jobs.put': { method: 'PUT', path: job },
  'jobs.delete': { method: 'DELETE', path: job },
  'jobs.run': { method: 'POST', path: `${job}/run` },
  'jobs.pause': { method: 'POST', path: `${job}/pause` },
  'jobs.resume': { method: 'POST', path: `${job}/resume` },
  'jobs.interrupt': { method: 'POST', path: `${job}/interrupt` },
  'triggers.list': { method: 'GET', path: '/triggers' },
  'triggers.get': { method: 'GET', path: trigger },
  'triggers.fireTimes': { method: 'GET', path: `${trigger}/fire-times` },
  'triggers.put': { method: 'PUT', path: trigger },
  'triggers.delete': { method: 'DELETE', path: trigger },
  'triggers.run': { method: 'POST', path: `${trigger}/run` },
  'triggers.pause': { method: 'POST', path: `${trigger}/pause` },
  'triggers.resume': { method: 'POST', path: `${trigger}/resume` },
  'triggers.skipNext': { method: 'POST', path: `${trigger}/skip-next` },
  'triggers.resetError': { method: 'POST', path: `${trigger}/reset-error` },
  'executing.list': { method: 'GET', path: '/executing' },
  'executing.interrupt': { method: 'POST', path: '/executing/{fireInstanceId}/interrupt' },
  'executions.list': { method: 'GET', path: '/executions' },
  'executions.get': { method: 'GET', path: '/executions/{fireInstanceId}' },
  'executions.log': { method: 'GET', path: '/executions/{fireInstanceId}/log' },
  'executions.stats': { method: 'GET', path: '/execution-stats' },
  'audit.list': { method: 'GET', path: '/audit' },
  'auth.list': { method: 'GET', path: '/auth', isServerWide: true },
  'misfires.list': { method: 'GET', path: '/misfires' },
  'misfires.stats': { method: 'GET', path: '/misfire-stats' },
  'completion.list': { method: 'GET', path: '/completion' },
  'nodes.list': { method: 'GET', path: '/nodes' },
  'nodes.start': { method: 'POST', path: '/nodes/{instanceId}/start' },
  'nodes.standby': { method: 'POST', path: '/nodes/{instanceId}/standby' },
  'nodes.drain': { method: 'POST', path: '/nodes/{instanceId}/drain' },
  'nodes.remove': { method: 'POST', path: '/nodes/{instanceId}/remove' },
  'cron.preview': { method: 'GET', path: '/cron/preview' },
  'planned.list': { method: 'GET', path: '/planned' },
  'planned.load': { method: 'GET', path: '/planned/load' },
  'calendars.list': { method: 'GET', path: '/calendars' },
  'calendars.get': { method: 'GET', path: '/calendars/{name}' },
  'calendars.days': { method: 'GET', path: '/calendars/{name}/days' },
  'calendars.put': { method: 'PUT', path: '/calendars/{name}' },
  'calendars.delete': { method: 'DELETE', path: '/calendars/{name}' },
  'alerts.list': { method: 'GET', path: '/alerts' },
  'alerts.silence': { method: 'POST', path: '/alerts/silences' },
  'alerts.endSilence': { method: 'DELETE', path: '/alerts/silences/{id}' },
  'alerts.test': { method: 'POST', path: '/alerts/test' },
  'xxlJob.executors': { method: 'GET', path: '/xxl-job/executors' },
  'xxlJob.jobs': { method: 'GET', path: '/xxl-job/jobs' },
  'xxlJob.glue': { method: 'GET', path: '/xxl-job/glue/{name}' },
  'xxlJob.run': { method: 'POST', path: '/xxl-job/jobs/{group}/{name}/run' },
  'xxlJob.log': { method: 'GET', path: '/xxl-job/log/{fireInstanceId}' },
  'xxlJob.report': { method: 'GET', path: '/xxl-job/report' },
  'bulk.begin': { method: 'POST', path: '/bulk' },
  'bulk.list': { method: 'GET', path: '/bulk', isServerWide: true },
  'bulk.get': { method: 'GET', path: '/bulk/{id}', isServerWide: true },
  'bulk.stop': { method: 'POST', path: '/bulk/{id}/stop', isServerWide: true },
}
