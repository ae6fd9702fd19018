import type { JobKey } from '../core/key.ts'
import { bareJob, type JobDetail } from '../jobs/job-detail.ts'
import type { EpochMs } from '../time/clock.ts'
import type { InterruptTarget } from './cluster-view.ts'
import type { TriggerFiredBundle } from './fired-bundle.ts'

/** A firing that goes on elsewhere: it executes until its result is reported, or its deadline passes. */
export interface AwaitedResult {
  /** Names the firing for those who report its result. Unique among the awaited results of a scheduler. */
  readonly reference: string
  /** What the job wrote down for itself. */
  readonly note: string
  readonly deadlineMs: EpochMs
  /** Whether the retry policy of the job applies when the deadline passes. */
  readonly retriesOnTimeout: boolean
  /** When the job began to run. */
  readonly beganTimeMs: EpochMs
  /** What the history keeps of the data that the job was given. Default: it is made of the job as it is read back. */
  readonly dataText?: string | null
  /**
   * The firing. Read back, it has no calendar, and the job as it is stored now, but of the type that has begun it; a
   * job that was deleted has its key and that type alone.
   */
  readonly bundle: TriggerFiredBundle
}

/** The job of a firing that is read back; `stored` is the job as it is stored now, if there is one. */
export function jobOfAwaited(key: JobKey, jobType: string, stored: JobDetail | undefined): JobDetail {
  if (stored?.jobType === jobType) return stored
  if (stored !== undefined) return Object.freeze({ ...stored, jobType })
  // Its execution ends all the same.
  return bareJob(key, jobType)
}

/** Whether a result is awaited from now on. */
export type AwaitedResultOutcome =
  | 'awaited'
  /** Another firing has the reference. */
  | 'taken'
  /** The firing is not this scheduler's any more: another node has recovered it. */
  | 'gone'

/** Results whose firings are in flight. */
export interface ResultsInFlight {
  readonly results: readonly AwaitedResult[]
  /** How many the store went through for this answer: those of `results`, and those that it could not read. */
  readonly seen: number
}

/** Results whose deadline has passed, and when to look again. */
export interface OverdueResults {
  readonly overdue: readonly AwaitedResult[]
  /** How many the store went through for this answer: those of `overdue`, and those that it could not read. */
  readonly seen: number
  /** The earliest of the other deadlines; null when there is none. */
  readonly nextMs: EpochMs | null
}

/** A firing that ended at its deadline, of which a result was reported since. */
export interface LateFiring {
  readonly reference: string
  readonly fireInstanceId: string
}

/** For how long a store knows a firing that ended at its deadline, and how many of them. */
export const lateFiringsMaxAgeMs: number = 3 * 86_400_000
export const lateFiringsMax = 10_000

/** Most awaited results that one answer of {@link JobStoreAwaitedResults} holds. */
export const awaitedResultsAtOnce = 500

/**
 * Firings that go on elsewhere. Each is an execution in flight of the node that fired it, or of the one that recovered
 * that node: recovery takes it over and neither repeats nor drops it. Any node may complete it, once: with
 * `triggeredJobsComplete` and a completion that has `isAwaited`. A call of that which rejects must have ended none of
 * them: tried again, its completions would be passed over, and no scheduler would call the listeners.
 */
export interface JobStoreAwaitedResults {
  /** Writes down that a firing of this scheduler goes on elsewhere; the answers are in the order of the results. */
  put(results: readonly AwaitedResult[]): Promise<readonly AwaitedResultOutcome[]>
  /** Those with these references whose firings are in flight, on any node, in no order. */
  find(references: readonly string[]): Promise<readonly AwaitedResult[]>
  /** The first 500 of a job, or the one of a firing. */
  findTarget(target: InterruptTarget): Promise<readonly AwaitedResult[]>
  /**
   * Those whose firings are in flight, on any node, the earliest deadline first, at most 500.
   *
   * @param skip how many of the earliest to leave out. Default: 0
   */
  inFlight(skip?: number): Promise<ResultsInFlight>
  /**
   * Those whose deadline is at or before this instant, the earliest first, at most 500.
   *
   * @param skip how many of the earliest to leave out. Default: 0
   */
  overdue(nowMs: EpochMs, skip?: number): Promise<OverdueResults>
  /**
   * Forgets, and answers, the firings of these references that were completed with `mayBeLate`: about the last 10,000
   * of the last three days. Of several callers one is answered. Default: the store knows none.
   */
  takeLate?(references: readonly string[]): Promise<readonly LateFiring[]>
}
