import type { JobKey, TriggerKey } from '../core/key.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import { requireInteger } from '../core/options.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Pause } from './pauses.ts'
import type { TriggerState } from './trigger-state.ts'

/**
 * One page of a listing. It may hold fewer items than were asked for, even none, and have a next one: for one page, a
 * store looks at a bounded number of entries.
 */
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
  /** Only jobs of these groups, at most 1000. */
  readonly jobGroups?: readonly string[]
  readonly jobType?: string
  /**
   * Part of the name, the group, the type or the description. The letters A to Z are found in either case, all others
   * as they are written. At most 200 characters.
   */
  readonly search?: string
}

/** Which triggers are listed. */
export interface TriggerConditions {
  readonly group?: GroupMatcher
  /** Only triggers of this name; with a group that is named exactly, one trigger. */
  readonly name?: string
  readonly jobKey?: JobKey
  /** Only triggers of jobs of these groups, at most 1000. */
  readonly jobGroups?: readonly string[]
  /** Only triggers of jobs of this type. */
  readonly jobType?: string
  readonly calendarName?: string
  /** Only triggers whose next fire time is before this instant. */
  readonly dueBefore?: Date
  /**
   * Part of the name, the group, the description or the name of the job. The letters A to Z are found in either case,
   * all others as they are written. At most 200 characters.
   */
  readonly search?: string
}

export interface TriggerQuery extends PageRequest<TriggerKey>, TriggerConditions {
  /** One state, or several of which any will do. */
  readonly state?: TriggerState | readonly TriggerState[]
}

/** A place in the order in which triggers fire. */
export interface FirePlace {
  readonly nextFireTimeMs: EpochMs
  readonly priority: number
  readonly key: TriggerKey
}

/** Triggers that are to fire, so in the state NORMAL or BLOCKED, with a next fire time. */
export interface NextTriggerQuery extends PageRequest<FirePlace>, TriggerConditions {}

/** How many triggers there are of each state; a state that none is in is left out. */
export type TriggerCounts = Readonly<Partial<Record<TriggerState, number>>>

/** A group that is not empty. */
export interface GroupCount {
  readonly group: string
  /** How many jobs, or triggers, are in it. */
  readonly count: number
}

/** The bounds of conditions; the public methods check them. */
export const queryLimits = { searchLength: 200, jobGroups: 1000 } as const

/** The states of triggers that are to fire. */
export const nextTriggerStates: readonly TriggerState[] = ['NORMAL', 'BLOCKED']

/** The states of a query, or null for any. */
export function statesOf({ state }: TriggerQuery): readonly TriggerState[] | null {
  if (state === undefined) return null
  return typeof state === 'string' ? [state] : state
}

/** A text with its letters A to Z in lower case: searching goes by these, as every database can. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
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
  /** Null for a trigger that is over, also one that its job ended before its last time. */
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
 * `timeoutMs`, `lost` with its node and not run again. A firing of a sharded job is also `vetoed` when none of its
 * items was run, because all were left out or turned off.
 */
export type ExecutionOutcome = (typeof executionOutcomes)[number]

/** A place in the history of executions. */
export interface ExecutionCursor {
  readonly fireTimeMs: EpochMs
  readonly fireInstanceId: string
}

/**
 * Which executions to list. With filters besides job, trigger and time, a page looks at 20,000 executions at most: it
 * may hold fewer than `take`, also none, and have a `next`.
 */
export interface ExecutionQuery extends PageRequest<ExecutionCursor> {
  readonly jobKey?: JobKey
  /** Executions of retries and recoveries count for the trigger in whose place they ran. */
  readonly triggerKey?: TriggerKey
  /** The group of the job. */
  readonly jobGroup?: string
  /** The instance id of the node that ran it. */
  readonly node?: string
  /** One outcome, or several. */
  readonly outcome?: ExecutionOutcome | readonly ExecutionOutcome[]
  /** Fired (`fireTimeMs`) more than so many milliseconds after the planned instant. */
  readonly laterThanMs?: number
  /** Ran for more than so many milliseconds; what was vetoed has not run. */
  readonly tookLongerThanMs?: number
  /** A part of its error as it is shown, in this case of letters. */
  readonly errorContains?: string
  /**
   * A value in its data, at any depth: a text, or a number as text. Only what the history shows of the data is looked
   * at.
   */
  readonly data?: { readonly key: string; readonly value: string }
  /** Whether it was fired by `triggerJob`. */
  readonly manual?: boolean
  /** Only items of this sharded firing. */
  readonly firingId?: string
  /** Fired (`fireTimeMs`) at or after this instant. */
  readonly from?: Date
  /** Fired before this instant. */
  readonly to?: Date
}

/** What of a query a store may look up one row at a time, so that a page looks at a bounded number of rows. */
export function isScan(query: ExecutionQuery): boolean {
  const { data, errorContains, jobGroup, laterThanMs, manual, node, outcome, tookLongerThanMs } = query
  return [data, errorContains, jobGroup, laterThanMs, manual, node, outcome, tookLongerThanMs].some(
    (filter) => filter !== undefined,
  )
}

/** The outcomes that a query asks for; null for all. */
export function wantedOutcomes({ outcome }: ExecutionQuery): readonly ExecutionOutcome[] | null {
  if (outcome === undefined) return null
  return typeof outcome === 'string' ? [outcome] : outcome
}

/** The texts of JSON of which one is in the data when it has a value under a key. */
export function dataNeedles({
  key,
  value,
}: {
  readonly key: string
  readonly value: string
}): readonly string[] {
  const name = JSON.stringify(key)
  const plain = [',', '}', ']'].map((end) => `${name}:${value}${end}`)
  return [`${name}:${JSON.stringify(value)}`, ...plain]
}

/** Which item of which sharded firing. */
export interface ShardPlace {
  /** The id of the firing, which is an entry of the history too. */
  readonly firingId: string
  readonly item: number
}

/** One execution that ended, or a sharded firing, whose items are executions of their own. */
export interface ExecutionSummary extends ExecutionCursor {
  readonly jobKey: JobKey
  /** Null when the job was deleted before its key was known. */
  readonly jobType: string | null
  readonly triggerKey: TriggerKey
  /** The instance id of the node that ran it. */
  readonly node: string
  readonly scheduledFireTimeMs: EpochMs
  /** When its trigger was claimed; null where that is not known, as for the two below. */
  readonly acquiredTimeMs: EpochMs | null
  /** When its job began to run, after the listeners; null when it did not. */
  readonly beganTimeMs: EpochMs | null
  /** Null for an execution that was lost. */
  readonly finishedTimeMs: EpochMs | null
  readonly attempt: number
  readonly recovering: boolean
  readonly outcome: ExecutionOutcome
  /** The beginning of its error message, without what looks like a secret. */
  readonly errorText: string | null
  /** Whether it was fired by `triggerJob`, or is another attempt at such an execution. */
  readonly manual: boolean
  /** Who asked for it, as `triggerJob` was told; null where it was not. */
  readonly triggeredBy: string | null
  /** The execution that this one tries again; null for a first attempt. */
  readonly previousFireInstanceId: string | null
  /** Of the sharded firing that it is a part of; null for any other execution, and for the firing itself. */
  readonly shard: ShardPlace | null
}

/** An execution with all that is remembered of it. Texts of JSON show `***` for secrets and end with `…` where cut. */
export interface ExecutionDetails extends ExecutionSummary {
  /** The last progress that the job reported, as JSON; null when it reported none. */
  readonly progressText: string | null
  /** What the job returned, as JSON; null when it returned nothing. */
  readonly resultText: string | null
  /** The data with which it was begun, as JSON; null when there were none. */
  readonly dataText: string | null
  /**
   * All attempts at the same firing, this one among them, in order; at most 100. A store may look for them among the
   * first 1,000 executions of the trigger after the planned instant alone, and for those that fired before it, because
   * the clock was set back, among the last 1,000 of the hour before.
   */
  readonly attempts: readonly ExecutionSummary[]
}

/** How many executions a page of a query with further filters looks at. */
export const executionsScanned = 20_000

const defaultTake = 100
const maxTake = 1000

/** How many items a page holds at most. */
export function pageSize(what: string, { take }: PageRequest<unknown>): number {
  return requireInteger(what, 'take', take ?? defaultTake, { min: 1, max: maxTake })
}

/**
 * Makes a page of what was found. The caller asks for one item more than the page holds, which shows whether there is
 * another page. `lookedUpTo` is where a search ended that did not look at everything.
 */
export function pageOf<Key, Item extends { readonly key: Key }>(
  found: readonly Item[],
  size: number,
  lookedUpTo: Key | null = null,
): Page<Item, Key> {
  const items = found.slice(0, size)
  return { items, next: found.length > size ? (items.at(-1)?.key ?? null) : lookedUpTo }
}

/** The same for triggers in the order in which they fire. */
export function firePageOf(
  found: readonly TriggerSummary[],
  size: number,
  lookedUpTo: FirePlace | null = null,
): Page<TriggerSummary, FirePlace> {
  const items = found.slice(0, size)
  const last = items.at(-1)
  if (found.length <= size || last === undefined) return { items, next: lookedUpTo }
  return { items, next: { nextFireTimeMs: last.nextFireTimeMs ?? 0, priority: last.priority, key: last.key } }
}
