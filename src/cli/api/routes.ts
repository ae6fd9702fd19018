import type { AuditEntry } from '../../jobstore/audit.ts'
import type { SchedulerNode } from '../../jobstore/cluster-view.ts'
import type { ExecutionLogLine } from '../../jobstore/execution-log.ts'
import type { BulkJson } from '../../server/bulk/bulk-runs.ts'
import type { DefinitionsJson } from '../../server/operations/definitions-export.ts'
import type { NodeChangeJson } from '../../server/operations/nodes.ts'
import type { ActionJson, RunJson } from '../../server/wire/action.ts'
import type { KeyJson } from '../../server/wire/fields.ts'
import type { JobStatusJson } from '../../server/wire/job-status.ts'
import type { JobJson, JobSummaryJson } from '../../server/wire/jobs.ts'
import type { MisfireJson } from '../../server/wire/misfires.ts'
import type { PageJson } from '../../server/wire/pages.ts'
import type {
  ExecutingJson,
  ExecutionDetailsJson,
  ExecutionJson,
  SchedulerJson,
} from '../../server/wire/runs.ts'
import type { ShardsJson } from '../../server/wire/shards.ts'
import type { TriggerDetailJson, TriggerSummaryJson } from '../../server/wire/triggers.ts'

/** How a request is sent. The catalogue of the server needs zod, which a client of a server far away has no use for. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Below `/api`, or `/api/schedulers/{scheduler}`. */
  readonly path: string
  /** Of the server, and not of one scheduler. */
  readonly isServerWide?: true
}

/** The operations of the HTTP API that commands use, by their ids. */
export const routes: Readonly<Record<keyof Answers, Route>> = {
  'scheduler.get': { method: 'GET', path: '/scheduler' },
  'jobs.list': { method: 'GET', path: '/jobs' },
  'jobs.get': { method: 'GET', path: '/jobs/{group}/{name}' },
  'jobs.triggers': { method: 'GET', path: '/jobs/{group}/{name}/triggers' },
  'jobs.shards': { method: 'GET', path: '/jobs/{group}/{name}/shards' },
  'jobs.disableShard': { method: 'POST', path: '/jobs/{group}/{name}/shards/{item}/disable' },
  'jobs.enableShard': { method: 'POST', path: '/jobs/{group}/{name}/shards/{item}/enable' },
  'jobs.run': { method: 'POST', path: '/jobs/{group}/{name}/run' },
  'jobs.pause': { method: 'POST', path: '/jobs/{group}/{name}/pause' },
  'jobs.resume': { method: 'POST', path: '/jobs/{group}/{name}/resume' },
  'jobs.interrupt': { method: 'POST', path: '/jobs/{group}/{name}/interrupt' },
  'jobs.status': { method: 'GET', path: '/jobs/{group}/{name}/status' },
  'jobStatus.list': { method: 'GET', path: '/job-status' },
  'triggers.list': { method: 'GET', path: '/triggers' },
  'triggers.get': { method: 'GET', path: '/triggers/{group}/{name}' },
  'triggers.fireTimes': { method: 'GET', path: '/triggers/{group}/{name}/fire-times' },
  'triggers.run': { method: 'POST', path: '/triggers/{group}/{name}/run' },
  'triggers.pause': { method: 'POST', path: '/triggers/{group}/{name}/pause' },
  'triggers.resume': { method: 'POST', path: '/triggers/{group}/{name}/resume' },
  'triggers.skipNext': { method: 'POST', path: '/triggers/{group}/{name}/skip-next' },
  'triggers.resetError': { method: 'POST', path: '/triggers/{group}/{name}/reset-error' },
  'jobGroups.pause': { method: 'POST', path: '/job-groups/{group}/pause' },
  'jobGroups.resume': { method: 'POST', path: '/job-groups/{group}/resume' },
  'triggerGroups.pause': { method: 'POST', path: '/trigger-groups/{group}/pause' },
  'triggerGroups.resume': { method: 'POST', path: '/trigger-groups/{group}/resume' },
  'scheduler.pauseAll': { method: 'POST', path: '/scheduler/pause-all' },
  'scheduler.resumeAll': { method: 'POST', path: '/scheduler/resume-all' },
  'nodes.list': { method: 'GET', path: '/nodes' },
  'nodes.start': { method: 'POST', path: '/nodes/{instanceId}/start' },
  'nodes.standby': { method: 'POST', path: '/nodes/{instanceId}/standby' },
  'nodes.drain': { method: 'POST', path: '/nodes/{instanceId}/drain' },
  'nodes.remove': { method: 'POST', path: '/nodes/{instanceId}/remove' },
  'executions.list': { method: 'GET', path: '/executions' },
  'executions.get': { method: 'GET', path: '/executions/{fireInstanceId}' },
  'executions.log': { method: 'GET', path: '/executions/{fireInstanceId}/log' },
  'misfires.list': { method: 'GET', path: '/misfires' },
  'executing.list': { method: 'GET', path: '/executing' },
  'executing.interrupt': { method: 'POST', path: '/executing/{fireInstanceId}/interrupt' },
  'bulk.begin': { method: 'POST', path: '/bulk' },
  'bulk.get': { method: 'GET', path: '/bulk/{id}', isServerWide: true },
  'bulk.stop': { method: 'POST', path: '/bulk/{id}/stop', isServerWide: true },
  'definitions.export': { method: 'GET', path: '/definitions' },
  'definitions.import': { method: 'POST', path: '/definitions' },
  'audit.list': { method: 'GET', path: '/audit' },
  'support.dump': { method: 'GET', path: '/support-dump' },
}

interface Items<Item> {
  readonly items: readonly Item[]
}

type RunAnswer = ActionJson<RunJson>

/** What each operation answers. */
export interface Answers {
  'scheduler.get': SchedulerJson
  'jobs.list': PageJson<JobSummaryJson>
  'jobs.get': JobJson
  'jobs.triggers': PageJson<TriggerDetailJson>
  'jobs.shards': ShardsJson
  'jobs.disableShard': ActionJson
  'jobs.enableShard': ActionJson
  'jobs.run': RunAnswer
  'jobs.pause': ActionJson
  'jobs.resume': ActionJson
  'jobs.interrupt': ActionJson
  'jobs.status': JobStatusJson
  'jobStatus.list': PageJson<JobStatusJson>
  'triggers.list': PageJson<TriggerSummaryJson>
  'triggers.get': TriggerDetailJson
  'triggers.fireTimes': { readonly fireTimesMs: readonly number[] }
  'triggers.run': RunAnswer
  'triggers.pause': ActionJson
  'triggers.resume': ActionJson
  'triggers.skipNext': ActionJson<{ readonly skippedMs: number; readonly nextMs: number | null } | null>
  'triggers.resetError': ActionJson
  'jobGroups.pause': ActionJson
  'jobGroups.resume': ActionJson
  'triggerGroups.pause': ActionJson
  'triggerGroups.resume': ActionJson
  'scheduler.pauseAll': ActionJson
  'scheduler.resumeAll': ActionJson
  'nodes.list': Items<SchedulerNode>
  'nodes.start': ActionJson<NodeChangeJson>
  'nodes.standby': ActionJson<NodeChangeJson>
  'nodes.drain': ActionJson<NodeChangeJson>
  'nodes.remove': ActionJson<NodeChangeJson>
  'executions.list': PageJson<ExecutionJson>
  'executions.get': ExecutionDetailsJson
  'executions.log': { readonly items: readonly ExecutionLogLine[]; readonly next: number | null }
  'misfires.list': PageJson<MisfireJson>
  'executing.list': Items<ExecutingJson>
  'executing.interrupt': ActionJson
  'bulk.begin': ActionJson<BulkBegun>
  'bulk.get': BulkJson
  'bulk.stop': ActionJson
  'definitions.export': DefinitionsJson
  'definitions.import': ActionJson<ImportJson>
  'audit.list': PageJson<AuditEntry>
  'support.dump': { readonly version: string }
}

/** A field that each answer has: what has none is no answer of a quartz-ts server. */
export const marks: { readonly [Id in keyof Answers]: keyof Answers[Id] & string } = {
  'scheduler.get': 'schedulerName',
  'jobs.list': 'items',
  'jobs.get': 'key',
  'jobs.triggers': 'items',
  'jobs.shards': 'firings',
  'jobs.disableShard': 'landed',
  'jobs.enableShard': 'landed',
  'jobs.run': 'landed',
  'jobs.pause': 'landed',
  'jobs.resume': 'landed',
  'jobs.interrupt': 'landed',
  'jobs.status': 'jobKey',
  'jobStatus.list': 'items',
  'triggers.list': 'items',
  'triggers.get': 'key',
  'triggers.fireTimes': 'fireTimesMs',
  'triggers.run': 'landed',
  'triggers.pause': 'landed',
  'triggers.resume': 'landed',
  'triggers.skipNext': 'landed',
  'triggers.resetError': 'landed',
  'jobGroups.pause': 'landed',
  'jobGroups.resume': 'landed',
  'triggerGroups.pause': 'landed',
  'triggerGroups.resume': 'landed',
  'scheduler.pauseAll': 'landed',
  'scheduler.resumeAll': 'landed',
  'nodes.list': 'items',
  'nodes.start': 'landed',
  'nodes.standby': 'landed',
  'nodes.drain': 'landed',
  'nodes.remove': 'landed',
  'executions.list': 'items',
  'executions.get': 'attempts',
  'executions.log': 'items',
  'misfires.list': 'items',
  'executing.list': 'items',
  'executing.interrupt': 'landed',
  'bulk.begin': 'landed',
  'bulk.get': 'id',
  'bulk.stop': 'landed',
  'definitions.export': 'format',
  'definitions.import': 'landed',
  'audit.list': 'items',
  'support.dump': 'version',
}

export interface BulkBegun {
  readonly count: number
  readonly digest: string
  /** The first of them. */
  readonly first: readonly KeyJson[]
  /** How many runs wait. */
  readonly paused: number
  /** Null in a dry run. */
  readonly bulk: BulkJson | null
}

export interface ImportJson {
  readonly counts: {
    readonly add: number
    readonly change: number
    readonly remove: number
    readonly leaveOut: number
    readonly same: number
  }
  /** The first of them, in the order in which they are carried out. */
  readonly differences: readonly {
    readonly kind: 'calendar' | 'job' | 'trigger'
    /** The group of a calendar is empty. */
    readonly key: KeyJson
    readonly change: 'add' | 'change' | 'remove' | 'leaveOut'
  }[]
}
