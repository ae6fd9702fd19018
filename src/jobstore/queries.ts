import type { JobKey, TriggerKey } from '../core/key.ts'
import type { GroupMatcher } from '../core/matcher.ts'
import type { EpochMs } from '../time/clock.ts'
import type { TriggerType } from '../triggers/trigger.ts'
import type { TriggerState } from './trigger-state.ts'

/** One page of a listing, in order of keys. */
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
  /** `unknown` for a trigger that another kind of scheduler stored and this one cannot read. */
  readonly type: TriggerType | 'unknown'
  readonly state: TriggerState
  readonly description: string | null
  readonly calendarName: string | null
  readonly priority: number
  readonly nextFireTimeMs: EpochMs | null
  readonly previousFireTimeMs: EpochMs | null
}
