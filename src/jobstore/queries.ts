import type { JobKey, TriggerKey } from '../core/key.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import type { EpochMs } from '../time/clock.ts'
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
}

/** A job type that a node has no code for and whose triggers are due. */
export interface UnknownJobType {
  readonly jobType: string
  /** How many of its triggers are due, as far as the store has looked. */
  readonly waiting: number
  /** The first of them with their jobs, at most ten. */
  readonly first: readonly { readonly triggerKey: TriggerKey; readonly jobKey: JobKey }[]
}

/** How far a store looks for job types that are not known, so that a backlog of them costs no more than this. */
export const unknownJobTypeLimits = { triggers: 10_000, types: 100, triggersOfType: 10 } as const

export const executionOutcomes = ['succeeded', 'failed', 'vetoed', 'interrupted', 'timedOut', 'lost'] as const
/**
 * How an execution ended: `vetoed` by a trigger listener, `interrupted` by somebody, `timedOut` by its `timeoutMs`,
 * `lost` with its node and not run again.
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
  /** Null when the job was gone before it was known. */
  readonly jobType: string | null
  readonly triggerKey: TriggerKey
  readonly node: string
  readonly scheduledFireTimeMs: EpochMs
  /** Null for an execution that was lost. */
  readonly finishedTimeMs: EpochMs | null
  readonly attempt: number
  readonly recovering: boolean
  readonly outcome: ExecutionOutcome
  /** The beginning of what it failed with. */
  readonly errorText: string | null
}
