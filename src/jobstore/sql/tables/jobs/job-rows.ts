import { emptyJobDataMap, type JobDataMap } from '../../../../core/job-data-map.ts'
import type { JobKey } from '../../../../core/key.ts'
import { describeValue, isObject } from '../../../../core/options.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { JobPlan } from '../../../../jobs/job-plan.ts'
import { type RetryPolicy, storedRetryPolicy } from '../../../../jobs/retry-policy.ts'
import { type Sharding, storedSharding } from '../../../../jobs/sharding.ts'
import { timerDelayMaxMs } from '../../../../time/clock.ts'
import type { JobDataAndPlan } from '../../../planned-data.ts'
import type { RowOf } from '../../kernel/row-set.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { brokenValue } from '../encoding/broken-row.ts'
import { boolean, bytesOrNull, integerOrNull, text, textOrNull } from '../encoding/columns.ts'
import { jobDataText, readJobData, type WrittenJobData } from '../encoding/job-data-text.ts'
import { jobKeyColumns, requireUsableKeys } from '../encoding/key-rows.ts'
import { columnWidths, requireFits } from '../encoding/limits.ts'
import { storableJson } from '../encoding/storable-text.ts'
import { nodeAffinityOf, nodeAffinityText } from './node-affinity.ts'

export const jobColumns = {
  job_name: 'text',
  job_group: 'text',
  description: 'text',
  job_class_name: 'text',
  is_durable: 'boolean',
  is_nonconcurrent: 'boolean',
  is_update_data: 'boolean',
  requests_recovery: 'boolean',
  job_data: 'bytes',
  timeout_ms: 'bigint',
  retry_policy: 'text',
  node_affinity: 'text',
  sharding: 'text',
  job_plan: 'text',
} as const

/** The columns of a whole job `j` beside those of a trigger, which has some of the same names. */
export const jobBesideTriggerColumns = `j.job_class_name, j.is_durable, j.is_nonconcurrent, j.is_update_data,
  j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan,
  j.description AS job_description, j.job_data AS data_of_job, j.node_affinity AS affinity_of_job`

/** The job of a row with {@link jobBesideTriggerColumns}. @throws the same as {@link jobOf} */
export function jobBesideTrigger(key: JobKey, row: SqlRow): JobDetail {
  return jobOf(key, {
    job_name: row['job_name'],
    job_group: row['job_group'],
    job_class_name: row['job_class_name'],
    is_durable: row['is_durable'],
    is_nonconcurrent: row['is_nonconcurrent'],
    is_update_data: row['is_update_data'],
    requests_recovery: row['requests_recovery'],
    timeout_ms: row['timeout_ms'],
    retry_policy: row['retry_policy'],
    sharding: row['sharding'],
    job_plan: row['job_plan'],
    description: row['job_description'],
    job_data: row['data_of_job'],
    node_affinity: row['affinity_of_job'],
  })
}

/** @throws InvalidArgumentError for values that do not fit their columns */
export function jobRow(job: JobDetail, encoding: WrittenJobData): RowOf<typeof jobColumns> {
  const { key } = job
  const owner = { kind: 'Job', identity: key }
  requireFits(owner, 'name', key.name, columnWidths.keyPart)
  requireFits(owner, 'group', key.group, columnWidths.keyPart)
  requireFits(owner, 'description', job.description, columnWidths.description)
  requireFits(owner, 'jobType', job.jobType, columnWidths.jobType)
  return {
    job_name: key.name,
    job_group: key.group,
    description: job.description,
    job_class_name: job.jobType,
    is_durable: job.durable,
    is_nonconcurrent: job.disallowConcurrentExecution,
    is_update_data: job.persistJobDataAfterExecution,
    requests_recovery: job.requestsRecovery,
    job_data: jobDataText(encoding, owner, job.jobDataMap),
    timeout_ms: job.timeoutMs,
    retry_policy: job.retry === null ? null : JSON.stringify(job.retry),
    node_affinity: nodeAffinityText(job.nodeAffinity),
    sharding: job.sharding === null ? null : JSON.stringify(job.sharding),
    job_plan: job.plan === null ? null : storableJson(job.plan),
  }
}

/** @throws JobPersistenceError ERR_BROKEN_ROW, SyntaxError or InvalidArgumentError for what cannot be read */
export function jobOf(key: JobKey, row: SqlRow): JobDetail {
  requireUsableKeys(row, jobKeyColumns)
  const nodeAffinity = textOrNull(row, 'node_affinity')
  const sharding = textOrNull(row, 'sharding')
  return Object.freeze({
    key,
    jobType: jobTypeOf(row),
    description: textOrNull(row, 'description'),
    jobDataMap: jobDataOf(row),
    durable: boolean(row, 'is_durable'),
    requestsRecovery: boolean(row, 'requests_recovery'),
    disallowConcurrentExecution: boolean(row, 'is_nonconcurrent'),
    persistJobDataAfterExecution: boolean(row, 'is_update_data'),
    timeoutMs: timeoutOf(integerOrNull(row, 'timeout_ms')),
    retry: retryPolicyOf(textOrNull(row, 'retry_policy')),
    nodeAffinity: nodeAffinity === null ? null : nodeAffinityOf(nodeAffinity),
    sharding: sharding === null ? null : shardingOf(sharding),
    plan: planOf(textOrNull(row, 'job_plan')),
  })
}

/** @throws the same as {@link jobOf} */
export function jobDataAndPlanOf(row: SqlRow): JobDataAndPlan {
  return { jobDataMap: jobDataOf(row), plan: planOf(textOrNull(row, 'job_plan')) }
}

function jobDataOf(row: SqlRow): JobDataMap {
  const data = bytesOrNull(row, 'job_data')
  return data === null ? emptyJobDataMap : readJobData(data)
}

/** A plan that cannot be read counts as none: the job runs all the same, and the next declaration writes a new one. */
function planOf(json: string | null): JobPlan | null {
  if (json === null) return null
  try {
    const plan: unknown = JSON.parse(json)
    if (!isObject(plan) || !isObject(Reflect.get(plan, 'data'))) return null
    return Number.isSafeInteger(Reflect.get(plan, 'generation')) ? (plan as unknown as JobPlan) : null
  } catch {
    return null
  }
}

function shardingOf(json: string): Sharding {
  const stored: unknown = JSON.parse(json)
  if (isObject(stored)) return storedSharding(stored)
  throw brokenValue(`'sharding' is ${describeValue(json)}, which says nothing of items. Correct it`)
}

/** Refuses a trigger beside which no job was found. @throws JobPersistenceError ERR_BROKEN_ROW */
export function requireJobBeside(key: JobKey, row: SqlRow): void {
  if (row['job_class_name'] !== null) return
  const problem = `its job '${key.toString()}' does not exist`
  throw brokenValue(`${problem}. Delete the trigger, or store the job and reset the trigger`)
}

/** @throws JobPersistenceError ERR_BROKEN_ROW */
export function jobTypeOf(row: SqlRow): string {
  const jobType = text(row, 'job_class_name')
  if (jobType.trim() !== '') return jobType
  throw brokenValue("'job_class_name' is blank. Correct or delete the row")
}

function timeoutOf(ms: number | null): number | null {
  if (ms === null || (ms >= 1 && ms <= timerDelayMaxMs)) return ms
  throw brokenValue(`'timeout_ms' is ${ms}, where 1 to ${timerDelayMaxMs} belongs. Correct it`)
}

function retryPolicyOf(json: string | null): RetryPolicy | null {
  if (json === null) return null
  const stored: unknown = JSON.parse(json)
  if (isObject(stored)) return storedRetryPolicy(stored)
  throw brokenValue(`'retry_policy' is ${describeValue(json)}, which is no policy. Correct it`)
}
