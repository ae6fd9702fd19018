import { z } from 'zod'
import { withoutSecrets } from '../../core/secrets.ts'
import type { JobDay, JobStatus } from '../../jobstore/job-status.ts'
import { type ExecutionOutcome, executionOutcomes } from '../../jobstore/queries.ts'
import { instantOrNull, type KeyJson, keyJson, keyToJson } from './fields.ts'

/** How a job is doing, whether or not its executions are in the history. */
export interface JobStatusJson {
  readonly jobKey: KeyJson
  readonly lastFireInstanceId: string | null
  readonly lastFireTimeMs: number | null
  readonly lastFinishedTimeMs: number | null
  readonly lastOutcome: ExecutionOutcome | null
  readonly lastSuccessTimeMs: number | null
  readonly lastFailureTimeMs: number | null
  readonly lastErrorText: string | null
  readonly consecutiveFailures: number
  /** The newest first, by the day in UTC. */
  readonly days: readonly JobDay[]
}

const jobDayJson: z.ZodType<JobDay> = z.strictObject({
  day: z.string(),
  counts: z.strictObject({
    succeeded: z.number(),
    failed: z.number(),
    vetoed: z.number(),
    interrupted: z.number(),
    timedOut: z.number(),
    lost: z.number(),
  }),
  runTimeMs: z.number(),
})

export const jobStatusJson: z.ZodType<JobStatusJson> = z.strictObject({
  jobKey: keyJson,
  lastFireInstanceId: z.string().nullable(),
  lastFireTimeMs: instantOrNull,
  lastFinishedTimeMs: instantOrNull,
  lastOutcome: z.enum(executionOutcomes).nullable(),
  lastSuccessTimeMs: instantOrNull,
  lastFailureTimeMs: instantOrNull,
  lastErrorText: z.string().nullable(),
  consecutiveFailures: z.number(),
  days: z.array(jobDayJson).readonly(),
})

export function jobStatusToJson({ jobKey, lastErrorText, ...status }: JobStatus): JobStatusJson {
  return {
    jobKey: keyToJson(jobKey),
    ...status,
    lastErrorText: lastErrorText && withoutSecrets(lastErrorText),
  }
}
