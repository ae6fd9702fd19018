import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import type { ExecutionOutcome } from './queries.ts'

/**
 * How an item ended: as its last execution; `skipped` because the same item of an earlier firing was still open; or
 * `disabled` because it was turned off.
 */
export type ShardOutcome = ExecutionOutcome | 'skipped' | 'disabled'

/** An item of a sharded firing. */
export interface ShardedItem {
  readonly item: number
  /** The instance id of the node that it was given to; another node may have run it in its place. */
  readonly owner: string
  readonly parameter: string | null
  /**
   * `given`: it waits for its node or runs, also once more after a failure. `held`: it waits for the same item of an
   * earlier firing.
   */
  readonly state: 'given' | 'held' | 'ended'
  /** The trigger that runs it; null when it has ended or is held. */
  readonly triggerKey: TriggerKey | null
  /** Null while it has not ended. */
  readonly outcome: ShardOutcome | null
  /** The beginning of its error message; null when it did not fail. */
  readonly errorText: string | null
}

/** A firing of a sharded job. */
export interface ShardedFiring {
  /** The `firingId` of its items, and its id in the history. */
  readonly fireInstanceId: string
  readonly jobKey: JobKey
  /** The trigger that fired. */
  readonly triggerKey: TriggerKey
  readonly scheduledFireTimeMs: EpochMs
  readonly fireTimeMs: EpochMs
  readonly items: readonly ShardedItem[]
}

/** A firing of a sharded job whose items have all ended. */
export interface EndedSharding extends ShardedFiring {
  readonly finishedTimeMs: EpochMs
  /** The worst of its items; `vetoed` when none of them was run. */
  readonly outcome: ExecutionOutcome
  /** Which items did not end well; null when all did. */
  readonly errorText: string | null
}

/** The firings of one sharded job that have not ended. */
export interface ShardOverview {
  readonly jobKey: JobKey
  /** Those that fired first come first. */
  readonly firings: readonly ShardedFiring[]
  /** The items that are turned off, in order. */
  readonly disabledItems: readonly number[]
}

/** The part of a store that splits firings of sharded jobs. */
export interface JobStoreShards {
  /** Null when there is no such job. */
  overview(jobKey: JobKey): Promise<ShardOverview | null>
  /**
   * Turns an item on or off, from the next firing on. False when there is no such job. What is turned off stays so when
   * the job is replaced.
   */
  setItem(jobKey: JobKey, item: number, options: { readonly enabled: boolean }): Promise<boolean>
}
