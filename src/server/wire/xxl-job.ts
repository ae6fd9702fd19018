import { z } from 'zod'
import type { XxlJobDefinition, XxlJobExecutorGroup } from '../../xxl-job/admin/admin-face.ts'
import { instantMs, instantOrNull, type KeyJson } from './fields.ts'

/** Executors of one AppName. */
export interface ExecutorGroupJson {
  readonly appName: string
  readonly byHand: boolean
  readonly running: number
  readonly executors: readonly {
    readonly address: string
    readonly lastBeatMs: number | null
    readonly dialect: XxlJobExecutorGroup['executors'][number]['dialect']
  }[]
}

export const executorGroupJson: z.ZodType<ExecutorGroupJson> = z.strictObject({
  appName: z.string(),
  byHand: z.boolean().describe('Whether the addresses were entered by hand.'),
  running: z.number().describe('How many executions of its jobs go on, on any node.'),
  executors: z.array(
    z.strictObject({
      address: z.string(),
      lastBeatMs: instantOrNull.describe('Null where addresses were entered by hand.'),
      dialect: z
        .enum(['2.2', '3.5'])
        .nullable()
        .describe('From which version of XXL-JOB on it speaks so; null before it has answered a run.'),
    }),
  ),
})

/** A job type of `xxlJob`, without the source of its script. */
export interface XxlJobTypeJson extends Omit<XxlJobDefinition, 'glue'> {
  readonly glue: { readonly type: string; readonly updatedMs: number } | null
}

/** A stored job that executors run. */
export interface XxlJobJson extends KeyJson {
  readonly jobType: string
  readonly fromData: XxlJobTypeJson | null
}

export interface XxlJobsJson {
  readonly types: readonly XxlJobTypeJson[]
  readonly jobs: readonly XxlJobJson[]
  readonly isWhole: boolean
}

const xxlJobTypeJson: z.ZodType<XxlJobTypeJson> = z.strictObject({
  jobType: z.string(),
  appName: z.string(),
  jobId: z.number(),
  handler: z.string().describe('Empty for a script.'),
  route: z.custom<XxlJobDefinition['route']>((value) => typeof value === 'string'),
  blockStrategy: z.custom<XxlJobDefinition['blockStrategy']>((value) => typeof value === 'string'),
  timeoutSeconds: z.number(),
  glue: z.strictObject({ type: z.string(), updatedMs: instantMs }).nullable().describe('Null for a handler.'),
})

export const xxlJobsJson: z.ZodType<XxlJobsJson> = z.strictObject({
  types: z.array(xxlJobTypeJson),
  jobs: z.array(
    z.strictObject({
      group: z.string(),
      name: z.string(),
      jobType: z.string(),
      fromData: xxlJobTypeJson
        .nullable()
        .describe('What the data of the job say that is sent; null where its type says it.'),
    }),
  ),
  isWhole: z.boolean().describe('False where there are more jobs than are looked at.'),
})

/** A script or class that executors are sent. */
export interface GlueJson {
  readonly type: string
  readonly updatedMs: number
  readonly source: string
}

export const glueJson: z.ZodType<GlueJson> = z.strictObject({
  type: z.string(),
  updatedMs: instantMs,
  source: z.string(),
})

/** A page of what an executor has of the log of a run. */
export interface ExecutorLogJson {
  readonly appName: string
  readonly address: string
  readonly logId: number
  readonly fromLine: number
  readonly toLine: number
  readonly text: string
  readonly isEnd: boolean
  readonly problem: string | null
}

export const executorLogJson: z.ZodType<ExecutorLogJson> = z.strictObject({
  appName: z.string(),
  address: z.string(),
  logId: z.number(),
  fromLine: z.number(),
  toLine: z.number().describe('The last line that is here; below fromLine when there is none.'),
  text: z.string(),
  isEnd: z.boolean().describe('Whether the executor says that no more lines come.'),
  problem: z.string().nullable().describe('Why the executor gave no page; null when it did.'),
})

/** What ran on one day. */
export interface XxlJobDayJson {
  readonly day: string
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  readonly running: number
}

export interface XxlJobReportJson {
  readonly items: readonly XxlJobDayJson[]
  readonly isWhole: boolean
}

export const xxlJobReportJson: z.ZodType<XxlJobReportJson> = z.strictObject({
  items: z.array(
    z.strictObject({
      day: z.string().describe('Of UTC.'),
      total: z.number(),
      succeeded: z.number(),
      failed: z.number(),
      running: z.number(),
    }),
  ),
  isWhole: z.boolean().describe('False where there are more jobs than are looked at.'),
})
