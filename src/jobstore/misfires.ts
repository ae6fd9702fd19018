import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import type { PageRequest } from './queries.ts'

export const misfireCauses = [
  'outage',
  'poolFull',
  'blocked',
  'late',
  'paused',
  'calendar',
  'skippedByHand',
  'vetoed',
  'lost',
] as const
/**
 * Why nothing ran at a planned instant. The first four were found late by a node, and say what it knows of that time:
 * `outage`: it was not running, was in standby, did not reach its store, or was suspended; `poolFull`: it had no free
 * thread; `blocked`: the job was still running and forbids concurrent execution; `late`: none of these is known.
 * `paused`: the trigger was paused. `calendar`: a new version of its calendar excludes the instant. `skippedByHand`:
 * `skipNextFire` was called. `vetoed`: a trigger listener did not let the job run. `lost`: the execution died with its
 * node and is not run again.
 */
export type MisfireCause = (typeof misfireCauses)[number]

export const misfirePolicies = ['skipped', 'coalesced', 'postponed'] as const
/**
 * What the misfire instruction of a trigger made of what it missed: `skipped`: left out; `coalesced`: one firing stands
 * for all; `postponed`: the trigger fires a number of times and makes up for them later.
 */
export type MisfirePolicy = (typeof misfirePolicies)[number]

/** A place in the list of misfires. */
export interface MisfireCursor {
  readonly noticedTimeMs: EpochMs
  readonly id: string
}

/** Planned instants of one trigger that did not become runs, for one reason. */
export interface Misfire extends MisfireCursor {
  readonly triggerKey: TriggerKey
  /** Null when it is not known. */
  readonly jobKey: JobKey | null
  readonly cause: MisfireCause
  /** Null when no misfire instruction was applied. */
  readonly policy: MisfirePolicy | null
  /** The first of them. Queries go by `noticedTimeMs`. */
  readonly fromMs: EpochMs
  /** The last of them; an instant after which there is none when they were too many to count. */
  readonly toMs: EpochMs
  /** How many there are; null when they were too many to count. */
  readonly count: number | null
  /** The instance id of the node that noticed it. */
  readonly node: string
}

/**
 * Which misfires to list. With filters besides the time, a page looks at 20,000 of them at most: it may hold fewer than
 * `take`, also none, and have a `next`.
 */
export interface MisfireQuery extends PageRequest<MisfireCursor> {
  readonly triggerKey?: TriggerKey
  readonly jobKey?: JobKey
  /** The group of the job. */
  readonly jobGroup?: string
  /** One cause, or several. */
  readonly cause?: MisfireCause | readonly MisfireCause[]
  /** Noticed (`noticedTimeMs`) at or after this instant. */
  readonly from?: Date
  /** Noticed before this instant. */
  readonly to?: Date
}

/** Of which misfires to get the numbers. */
export interface MisfireCountQuery {
  /** Noticed (`noticedTimeMs`) at or after this instant. */
  readonly from?: Date
  /** Noticed before this instant. */
  readonly to?: Date
}

/** How much was missed. */
export interface MisfireCounts {
  /** Rows, each of a trigger that missed one planned instant or several. */
  readonly rows: number
  /** Planned instants; those of a row that were too many to count are one. */
  readonly fires: number
  /** Rows by cause; a cause without any is left out. */
  readonly byCause: Readonly<Partial<Record<MisfireCause, number>>>
  /** False when the newest 100,000 rows were counted, and there may be more. */
  readonly isWhole: boolean
}

/** How many rows {@link MisfireCounts} are of, at most. */
export const misfiresCounted = 100_000

/** Sums up counts by cause. */
export function misfireCounts(
  counted: Iterable<{ readonly cause: MisfireCause; readonly rows: number; readonly fires: number }>,
): MisfireCounts {
  const byCause: Partial<Record<MisfireCause, number>> = {}
  let allRows = 0
  let allFires = 0
  for (const { cause, rows, fires } of counted) {
    byCause[cause] = (byCause[cause] ?? 0) + rows
    allRows += rows
    allFires += fires
  }
  return { rows: allRows, fires: allFires, byCause, isWhole: allRows < misfiresCounted }
}

/** The causes that a query asks for; null for all. */
export function wantedCauses({ cause }: MisfireQuery): readonly MisfireCause[] | null {
  if (cause === undefined) return null
  return typeof cause === 'string' ? [cause] : cause
}

/** Whether a query has filters besides the time. */
export function isMisfireScan({ triggerKey, jobKey, jobGroup, cause }: MisfireQuery): boolean {
  return [triggerKey, jobKey, jobGroup, cause].some((filter) => filter !== undefined)
}

/** How many misfires a page of a query with further filters looks at. */
export const misfiresScanned = 20_000
