import { z } from 'zod'
import {
  type Misfire,
  type MisfireCause,
  type MisfirePolicy,
  misfireCauses,
  misfirePolicies,
} from '../../jobstore/misfires.ts'
import { instantMs, type KeyJson, keyJson, keyToJson } from './fields.ts'

/** Planned instants of one trigger that did not become runs, for one reason. */
export interface MisfireJson {
  readonly id: string
  readonly noticedTimeMs: number
  readonly triggerKey: KeyJson
  readonly jobKey: KeyJson | null
  readonly cause: MisfireCause
  /** What the misfire instruction of the trigger made of them; null when none was applied. */
  readonly policy: MisfirePolicy | null
  readonly fromMs: number
  /** The last of them; when they were too many to count, none is later. */
  readonly toMs: number
  /** Null when they were too many to count. */
  readonly count: number | null
  /** The node that noticed it. */
  readonly node: string
}

export const misfireJson: z.ZodType<MisfireJson> = z.strictObject({
  id: z.string(),
  noticedTimeMs: instantMs,
  triggerKey: keyJson,
  jobKey: keyJson.nullable(),
  cause: z.enum(misfireCauses),
  policy: z.enum(misfirePolicies).nullable(),
  fromMs: instantMs,
  toMs: instantMs,
  count: z.number().nullable(),
  node: z.string(),
})

export function misfireToJson({ triggerKey, jobKey, ...misfire }: Misfire): MisfireJson {
  const { id, noticedTimeMs, cause, policy, fromMs, toMs, count, node } = misfire
  return {
    id,
    noticedTimeMs,
    triggerKey: keyToJson(triggerKey),
    jobKey: jobKey && keyToJson(jobKey),
    cause,
    policy,
    fromMs,
    toMs,
    count,
    node,
  }
}

/** How many misfires there were. */
export interface MisfireStatsJson {
  readonly fromMs: number
  /** Rows, each of a trigger that missed one planned instant or several. */
  readonly rows: number
  /** Planned instants; those of rows that were not counted are one each. */
  readonly fires: number
  /** Whether there may be more than were counted. */
  readonly hasMore: boolean
  /** Rows by cause. */
  readonly byCause: Readonly<Partial<Record<MisfireCause, number>>>
}

export const misfireStatsJson: z.ZodType<MisfireStatsJson> = z.strictObject({
  fromMs: instantMs,
  rows: z.number(),
  fires: z.number(),
  hasMore: z.boolean(),
  byCause: z.partialRecord(z.enum(misfireCauses), z.number()),
})
