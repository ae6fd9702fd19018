import { z } from 'zod'
import { withoutSecrets } from '../../core/secrets.ts'
import { type HealthCode, healthCodes } from '../../health/health-report.ts'
import type { ExecutingJob, ExecutingShard, SchedulerNode } from '../../jobstore/cluster-view.ts'
import { type ExecutionLogLine, executionLogLevels } from '../../jobstore/execution-log.ts'
import {
  type ExecutionDetails,
  type ExecutionOutcome,
  type ExecutionSummary,
  executionOutcomes,
  type ShardPlace,
} from '../../jobstore/queries.ts'
import { instantMs, instantOrNull, type KeyJson, keyJson, keyToJson } from './fields.ts'

/** An execution in flight, on any node. */
export interface ExecutingJson {
  readonly fireInstanceId: string
  readonly jobKey: KeyJson
  readonly triggerKey: KeyJson
  /** The instance id of the node that runs it. */
  readonly node: string
  readonly fireTimeMs: number
  readonly scheduledFireTimeMs: number
  /** What it last said of its progress, as JSON; null when it said nothing. */
  readonly progressText: string | null
  /** Of which sharded firing it is which item, of how many; null for any other. */
  readonly shard: ExecutingShard | null
}

const firingFields = {
  fireInstanceId: z.string(),
  jobKey: keyJson,
  triggerKey: keyJson,
  node: z.string(),
  fireTimeMs: instantMs,
  scheduledFireTimeMs: instantMs,
}

const shardFields = { firingId: z.string(), item: z.number() }
const shardJson: z.ZodType<ShardPlace> = z.strictObject(shardFields)
const executingShardJson: z.ZodType<ExecutingShard> = z.strictObject({ ...shardFields, total: z.number() })

export const executingJson: z.ZodType<ExecutingJson> = z.strictObject({
  ...firingFields,
  progressText: z.string().nullable(),
  shard: executingShardJson.nullable(),
})

export function executingToJson(executing: ExecutingJob): ExecutingJson {
  const { progressText, shard } = executing
  return {
    ...firingToJson(executing),
    progressText,
    shard: shard && { firingId: shard.firingId, item: shard.item, total: shard.total },
  }
}

type Firing = Omit<ExecutingJob, 'progressText' | 'shard'>

function firingToJson(firing: Firing): Omit<ExecutingJson, 'progressText' | 'shard'> {
  const { fireInstanceId, jobKey, triggerKey, node, fireTimeMs, scheduledFireTimeMs } = firing
  return {
    fireInstanceId,
    jobKey: keyToJson(jobKey),
    triggerKey: keyToJson(triggerKey),
    node,
    fireTimeMs,
    scheduledFireTimeMs,
  }
}

/** An execution that has ended. */
export interface ExecutionJson extends Omit<ExecutingJson, 'progressText' | 'shard'> {
  /** Null when the job was gone before it was known. */
  readonly jobType: string | null
  /** Null for an execution that was lost. */
  readonly finishedTimeMs: number | null
  /** How much later than the planned instant of its firing it began: a retry also by the pauses before it. */
  readonly latenessMs: number
  /** Null for an execution that was lost or vetoed. */
  readonly durationMs: number | null
  readonly attempt: number
  readonly recovering: boolean
  readonly outcome: ExecutionOutcome
  readonly errorText: string | null
  /** When its trigger was claimed; null where that is not known. */
  readonly acquiredTimeMs: number | null
  /** When its job began to run; null when it did not. */
  readonly beganTimeMs: number | null
  /** Whether somebody asked for it. */
  readonly manual: boolean
  /** Who, where that is known. */
  readonly triggeredBy: string | null
  /** The execution that this one tries again; null for a first attempt. */
  readonly previousFireInstanceId: string | null
  /** Of which sharded firing it is which item; null for any other, and for the firing itself. */
  readonly shard: ShardPlace | null
}

const executionFields = {
  ...firingFields,
  jobType: z.string().nullable(),
  finishedTimeMs: instantOrNull,
  latenessMs: z.number(),
  durationMs: z.number().nullable(),
  attempt: z.number(),
  recovering: z.boolean(),
  outcome: z.enum(executionOutcomes),
  errorText: z.string().nullable(),
  acquiredTimeMs: instantOrNull,
  beganTimeMs: instantOrNull,
  manual: z.boolean(),
  triggeredBy: z.string().nullable(),
  previousFireInstanceId: z.string().nullable(),
  shard: shardJson.nullable(),
}

export const executionJson: z.ZodType<ExecutionJson> = z.strictObject(executionFields)

/** An execution that has ended, with all that is remembered of it. */
export interface ExecutionDetailsJson extends ExecutionJson {
  /** The last progress that the job reported, as JSON that ends with `…` where it was cut. */
  readonly progressText: string | null
  /** What the job returned, likewise. */
  readonly resultText: string | null
  /** The data with which it was begun, likewise; `***` stands for secrets. */
  readonly dataText: string | null
  /** All attempts at the same firing, in order. */
  readonly attempts: readonly ExecutionJson[]
}

export const executionDetailsJson: z.ZodType<ExecutionDetailsJson> = z.strictObject({
  ...executionFields,
  progressText: z.string().nullable(),
  resultText: z.string().nullable(),
  dataText: z.string().nullable(),
  attempts: z.array(executionJson).readonly(),
})

export function executionDetailsToJson(details: ExecutionDetails): ExecutionDetailsJson {
  const { progressText, resultText, dataText, attempts } = details
  return {
    ...executionToJson(details),
    progressText,
    resultText,
    dataText,
    attempts: attempts.map(executionToJson),
  }
}

export const logLineJson: z.ZodType<ExecutionLogLine> = z.strictObject({
  line: z.number(),
  timeMs: instantMs,
  level: z.enum(executionLogLevels),
  message: z.string(),
  fieldsText: z.string().nullable(),
})

/** Its fields have no secrets: they were written without them. */
export function logLineToJson(line: ExecutionLogLine): ExecutionLogLine {
  return { ...line, message: withoutSecrets(line.message) }
}

export function executionToJson(summary: ExecutionSummary): ExecutionJson {
  const { jobType, finishedTimeMs, attempt, recovering, outcome, errorText } = summary
  const { acquiredTimeMs, beganTimeMs, manual, triggeredBy, previousFireInstanceId, shard } = summary
  return {
    ...firingToJson(summary),
    jobType,
    finishedTimeMs,
    latenessMs: latenessMsOf(summary),
    durationMs: durationMsOf(summary),
    attempt,
    recovering,
    outcome,
    errorText: errorText && withoutSecrets(errorText),
    acquiredTimeMs,
    beganTimeMs,
    manual,
    triggeredBy,
    previousFireInstanceId,
    shard: shard && { firingId: shard.firingId, item: shard.item },
  }
}

export function latenessMsOf({ fireTimeMs, scheduledFireTimeMs }: ExecutionSummary): number {
  return fireTimeMs - scheduledFireTimeMs
}

export function durationMsOf({
  beganTimeMs,
  fireTimeMs,
  finishedTimeMs,
  outcome,
}: ExecutionSummary): number | null {
  if (finishedTimeMs === null || outcome === 'vetoed') return null
  return finishedTimeMs - (beganTimeMs ?? fireTimeMs)
}

export const nodeJson: z.ZodType<SchedulerNode> = z.strictObject({
  instanceId: z.string(),
  isSelf: z.boolean(),
  state: z.enum(['alive', 'overdue', 'failed']),
  lastCheckInTimeMs: instantOrNull,
  checkInIntervalMs: z.number().nullable(),
  version: z.string().nullable(),
  host: z.string().nullable(),
  pid: z.number().nullable(),
  jobTypes: z.array(z.string()).readonly().nullable(),
  clockOffsetMs: z.number().nullable(),
  status: z
    .enum(['started', 'standby', 'draining'])
    .nullable()
    .describe('What it does: `draining` is standby of a node that is to end once nothing runs there.'),
  eventLoopLagMs: z
    .number()
    .nullable()
    .describe('How late its event loop runs timers, the 99th percentile of the last half minute or so.'),
  executing: z.number().describe('How many executions are in flight there.'),
})

/** What is known of nodes, or of what runs on them. */
export interface SeenJson<Item> {
  readonly items: readonly Item[]
  /** False where other processes may have more, of which the store says nothing. */
  readonly isWhole: boolean
}

export function seenJson<Item>(item: z.ZodType<Item>): z.ZodType<SeenJson<Item>> {
  return z.strictObject({
    items: z.array(item),
    isWhole: z
      .boolean()
      .describe(
        'False where the server is attached to a store without check-ins: other processes may have more, of which ' +
          'the store says nothing.',
      ),
  })
}

/** What a scheduler is and does, as the node that was asked knows it. */
export interface SchedulerJson {
  readonly schedulerName: string
  readonly schedulerInstanceId: string
  readonly version: string
  /**
   * `attached` for a scheduler that was never started and has no threads: it only looks at the data of others, of which
   * it knows what they check in.
   */
  readonly status: 'started' | 'standby' | 'attached' | 'shutdown'
  readonly runningSinceMs: number | null
  /**
   * Runs begun by this node, refires with them; null when attached, since it is none, and for those who have roles on
   * job groups alone.
   */
  readonly numberOfJobsExecuted: number | null
  readonly jobStore: string
  readonly jobStorePersistent: boolean
  readonly jobStoreClustered: boolean
  readonly threadPool: string
  readonly threadPoolSize: number
  /** Why the node that was asked is not ready: the codes of `/health/ready`. */
  readonly notReady: readonly HealthCode[]
  /** This server's clock. */
  readonly nowMs: number
}

export const schedulerJson: z.ZodType<SchedulerJson> = z.strictObject({
  schedulerName: z.string(),
  schedulerInstanceId: z.string(),
  version: z.string(),
  status: z.enum(['started', 'standby', 'attached', 'shutdown']),
  runningSinceMs: instantOrNull,
  numberOfJobsExecuted: z
    .number()
    .nullable()
    .describe(
      'Runs begun by the node that was asked, refires with them; null when attached, since it is none, and for ' +
        'those who have roles on job groups alone.',
    ),
  jobStore: z.string(),
  jobStorePersistent: z.boolean(),
  jobStoreClustered: z.boolean(),
  threadPool: z.string(),
  threadPoolSize: z.number(),
  notReady: z
    .array(z.enum(healthCodes))
    .describe('Why the node that was asked is not ready: the codes of /health/ready. Empty when it is.'),
  nowMs: instantMs,
})
