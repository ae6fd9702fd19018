import { z } from 'zod'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { type ShardStrategy, shardItemsMax, shardStrategies } from '../../jobs/sharding.ts'
import type { JobSummary } from '../../jobstore/queries.ts'
import { masked } from '../masking.ts'
import { dataJson, type KeyJson, keyJson, keyToJson, nameText, textUpTo } from './fields.ts'
import { pauseJson } from './pauses.ts'

export interface JobSummaryJson extends Omit<JobSummary, 'key'> {
  readonly key: KeyJson
}

export const jobSummaryJson: z.ZodType<JobSummaryJson> = z.strictObject({
  key: keyJson,
  jobType: z.string(),
  description: z.string().nullable(),
  durable: z.boolean(),
  requestsRecovery: z.boolean(),
  disallowConcurrentExecution: z.boolean(),
  persistJobDataAfterExecution: z.boolean(),
  pause: pauseJson.nullable(),
})

export interface RetryJson {
  readonly attempts: number
  readonly backoff: {
    readonly type: 'exponential' | 'fixed'
    readonly initialMs: number
    readonly factor: number
    readonly maxMs: number
    readonly jitter: number
  }
}

const retryJson: z.ZodType<RetryJson> = z.strictObject({
  attempts: z.int().min(1).max(1000),
  backoff: z.strictObject({
    type: z.enum(['exponential', 'fixed']),
    initialMs: z.int().min(0),
    factor: z.number().min(1),
    maxMs: z.int().min(0),
    jitter: z.number().min(0).max(1),
  }),
})

export interface ShardingJson {
  readonly items: number | 'nodes' | 'remote'
  readonly strategy: ShardStrategy
  readonly parameters: Readonly<Record<string, string>>
  readonly misfire: 'runOnce' | 'skip'
}

const shardingJson: z.ZodType<ShardingJson> = z.strictObject({
  items: z.union([z.int().min(1).max(shardItemsMax), z.enum(['nodes', 'remote'])]),
  strategy: z.enum(shardStrategies),
  parameters: z.record(z.string(), z.string().max(1000)),
  misfire: z.enum(['runOnce', 'skip']),
})

export interface NodeAffinityJson {
  readonly names: readonly string[]
  readonly required: boolean
}

const nodeAffinityJson: z.ZodType<NodeAffinityJson> = z.strictObject({
  names: z.array(nameText).min(1).max(100),
  required: z.boolean(),
})

/** What a job is, apart from its key: the body of `jobs.put`. */
export interface JobFieldsJson {
  readonly jobType: string
  /** Left out, here and below: what the job's definition says. */
  readonly description?: string | null | undefined
  /** Values under keys that look secret are `***`; sent back, they stand for the stored ones. */
  readonly jobDataMap: Readonly<Record<string, unknown>>
  readonly durable: boolean
  /** Left out: true for a job whose items may move to other nodes. */
  readonly requestsRecovery?: boolean | undefined
  readonly disallowConcurrentExecution: boolean
  readonly persistJobDataAfterExecution: boolean
  readonly timeoutMs?: number | null | undefined
  readonly retry?: RetryJson | null | undefined
  readonly nodeAffinity: NodeAffinityJson | null
  readonly sharding: ShardingJson | null
}

const ofDefinition =
  "Null for none. Left out: as the job's definition says, or none where the server knows no definitions."

export const jobFieldsJson: z.ZodType<JobFieldsJson> = z.strictObject({
  jobType: nameText,
  description: textUpTo(2000).nullable().optional().describe(ofDefinition),
  jobDataMap: dataJson.default({}),
  durable: z.boolean().default(true),
  requestsRecovery: z
    .boolean()
    .optional()
    .describe('Left out: true for sharded jobs, but for broadcasts; else false.'),
  disallowConcurrentExecution: z.boolean().default(false),
  persistJobDataAfterExecution: z.boolean().default(false),
  timeoutMs: z.int().min(1).max(2_147_483_647).nullable().optional().describe(ofDefinition),
  retry: retryJson.nullable().optional().describe(ofDefinition),
  nodeAffinity: nodeAffinityJson.nullable().default(null),
  sharding: shardingJson.nullable().default(null),
})

export interface JobJson extends JobFieldsJson {
  readonly key: KeyJson
  readonly description: string | null
  readonly requestsRecovery: boolean
  readonly timeoutMs: number | null
  readonly retry: RetryJson | null
}

export const jobJson: z.ZodType<JobJson> = z.strictObject({
  key: keyJson,
  jobType: z.string(),
  description: z.string().nullable(),
  jobDataMap: dataJson,
  durable: z.boolean(),
  requestsRecovery: z.boolean(),
  disallowConcurrentExecution: z.boolean(),
  persistJobDataAfterExecution: z.boolean(),
  timeoutMs: z.number().nullable(),
  retry: retryJson.nullable(),
  nodeAffinity: nodeAffinityJson.nullable(),
  sharding: shardingJson.nullable(),
})

export function jobSummaryToJson(summary: JobSummary): JobSummaryJson {
  return { ...sharedToJson(summary), pause: summary.pause }
}

function sharedToJson(summary: Omit<JobSummary, 'pause'>): Omit<JobSummaryJson, 'pause'> {
  const { jobType, description, durable, requestsRecovery } = summary
  const { disallowConcurrentExecution, persistJobDataAfterExecution } = summary
  return {
    key: keyToJson(summary.key),
    jobType,
    description,
    durable,
    requestsRecovery,
    disallowConcurrentExecution,
    persistJobDataAfterExecution,
  }
}

export function jobToJson(job: JobDetail, options: { readonly secrets?: boolean } = {}): JobJson {
  return {
    ...sharedToJson(job),
    jobDataMap: options.secrets === true ? job.jobDataMap : masked(job.jobDataMap),
    timeoutMs: job.timeoutMs,
    retry: job.retry,
    nodeAffinity: job.nodeAffinity,
    sharding: job.sharding,
  }
}
