import type { JobKey, TriggerKey } from '../core/key.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import { requireInteger } from '../core/options.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Pause } from './pauses.ts'
import type { TriggerState } from './trigger-state.ts'

/** One page of a listing. */
export interface Page<Item, Key> {
  readonly items: readonly Item[]
  /** Pass it as `after` for the next page; null when this is the last one. */
  readonly next: Key | null
}

export interface PageRequest<Key> {
  /** Most items to return: 1 to 1000, default 100. */
  readonly take?: number
  /** Return only what comes after this key. */
  readonly after?: Key
}

export interface JobQuery extends PageRequest<JobKey> {
  readonly group?: GroupMatcher
  readonly jobType?: string
}

export interface TriggerQuery extends PageRequest<TriggerKey> {
  readonly group?: GroupMatcher
  /** Only triggers of this name; with a group that is named exactly, one trigger. */
  readonly name?: string
  readonly jobKey?: JobKey
  readonly calendarName?: string
  readonly state?: TriggerState
}

/** A job without its data. */
export interface JobSummary {
  readonly key: JobKey
  readonly jobType: string
  readonly description: string | null
  readonly durable: boolean
  readonly requestsRecovery: boolean
  readonly disallowConcurrentExecution: boolean
  readonly persistJobDataAfterExecution: boolean
  /** Of the job itself while one of its triggers is paused, or of its group; null when neither was paused. */
  readonly pause: Pause | null
}

/** A trigger without its data. */
export interface TriggerSummary {
  readonly key: TriggerKey
  readonly jobKey: JobKey
  /** The name of its family, or `unknown` for a trigger whose family this node does not know. */
  readonly type: string
  readonly state: TriggerState
  readonly description: string | null
  readonly calendarName: string | null
  readonly priority: number
  readonly nextFireTimeMs: EpochMs | null
  readonly previousFireTimeMs: EpochMs | null
  /**
   * Why a trigger in the state PAUSED is paused: its own pause, or else that of its job, of its group, of the group of
   * its job, or of everything. Null in other states, and when nothing is known of it.
   */
  readonly pause: Pause | null
}

/** A job type that a node has no code for and whose triggers are due. */
export interface UnknownJobType {
  readonly jobType: string
  /** How many of its triggers are due, among those that the store has read. */
  readonly waiting: number
  /** The first of them with their jobs, at most ten. */
  readonly first: readonly { readonly triggerKey: TriggerKey; readonly jobKey: JobKey }[]
}

/** How many triggers a store reads for unknown job types, so that the cost of a backlog is bounded. */
export const unknownJobTypeLimits = { triggers: 10_000, types: 100, triggersOfType: 10 } as const

export const executionOutcomes = ['succeeded', 'failed', 'vetoed', 'interrupted', 'timedOut', 'lost'] as const
/**
 * How an execution ended: `vetoed` by a trigger listener, `interrupted` by a caller or a shutdown, `timedOut` by its
 * `timeoutMs`, `lost` with its node and not run again.
 */
export type ExecutionOutcome = (typeof executionOutcomes)[number]

/** A place in the history of executions. */
export interface ExecutionCursor {
  readonly fireTimeMs: EpochMs
  readonly fireInstanceId: string
}

export interface ExecutionQuery extends PageRequest<ExecutionCursor> {
  readonly jobKey?: JobKey
  /** Executions of retries and recoveries count for the trigger in whose place they ran. */
  readonly triggerKey?: TriggerKey
  /** The instance id of the node that ran it. */
  readonly node?: string
  readonly outcome?: ExecutionOutcome
  /** Began at or after this instant. */
  readonly from?: Date
  /** Began before this instant. */
  readonly to?: Date
}

/** One execution that ended. */
export interface ExecutionSummary extends ExecutionCursor {
  readonly jobKey: JobKey
  /** Null when the job was deleted before its key was known. */
  readonly jobType: string | null
  readonly triggerKey: TriggerKey
  readonly node: string
  readonly scheduledFireTimeMs: EpochMs
  /** Null for an execution that was lost. */
  readonly finishedTimeMs: EpochMs | null
  readonly attempt: number
  readonly recovering: boolean
  readonly outcome: ExecutionOutcome
  /** The beginning of its error message. */
  readonly errorText: string | null
}

const defaultTake = 100
const maxTake = 1000

/** How many items a page holds at most. */
export function pageSize(what: string, { take }: PageRequest<unknown>): number {
  return requireInteger(what, 'take', take ?? defaultTake, { min: 1, max: maxTake })
}

/**
 * Makes a page of what was found. The caller asks for one item more than the page holds, which shows whether there is
 * another page.
 */
export function pageOf<Key, Item extends { readonly key: Key }>(
  found: readonly Item[],
  size: number,
): Page<Item, Key> {
  const items = found.slice(0, size)
  return { items, next: found.length > size ? (items.at(-1)?.key ?? null) : null }
}
