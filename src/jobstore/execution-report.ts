import type { TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import type { ExecutionLogLine } from './execution-log.ts'
import type { ExecutionDetails, ExecutionOutcome, ShardPlace } from './queries.ts'

/** How an execution went, for stores that remember it. */
export interface ExecutionReport {
  readonly outcome: Exclude<ExecutionOutcome, 'lost'>
  /** Its error, without what looks like a secret; null when it did not fail. */
  readonly errorText: string | null
  /** The original trigger, also when a retry or a recovery trigger fired in its place. */
  readonly triggerKey: TriggerKey
  readonly scheduledFireTimeMs: EpochMs
  readonly fireTimeMs: EpochMs
  readonly finishedTimeMs: EpochMs
  /** 1 for a first attempt. */
  readonly attempt: number
  readonly recovering: boolean
  /** When the job began to run; null when it did not. */
  readonly beganTimeMs?: EpochMs | null
  /** When the trigger was claimed; null where that is not known. */
  readonly acquiredTimeMs?: EpochMs | null
  readonly manual?: boolean
  readonly triggeredBy?: string | null
  readonly previousFireInstanceId?: string | null
  /** Of a sharded firing; absent for an execution that is no part of one. */
  readonly shard?: ShardPlace | null
  /** What is shown of the execution alone; only for an outcome that the store keeps. */
  readonly texts?: ExecutionTexts
  /** The last lines that it logged, which are not written yet; only for a store that asks for them. */
  readonly logLines?: readonly ExecutionLogLine[]
}

/** Of an execution, as JSON. */
export type ExecutionTexts = Pick<ExecutionDetails, 'progressText' | 'resultText' | 'dataText'>
