import type { JobKey } from '../core/key.ts'
import { beginningOf } from '../core/text-beginning.ts'
import type { EpochMs } from '../time/clock.ts'
import { isAhead } from './clock-ahead.ts'
import type { ExecutionReport } from './execution-report.ts'
import type { ExecutionOutcome, PageRequest } from './queries.ts'

/** How many executions of a job ended how. */
export type OutcomeCounts = Readonly<Record<ExecutionOutcome, number>>

/** The executions of a job that ended on one day. */
export interface JobDay {
  /** The day in UTC, as `2026-01-31`. */
  readonly day: string
  readonly counts: OutcomeCounts
  /** How long they ran, in all; what was vetoed has not run. Milliseconds. */
  readonly runTimeMs: number
}

/**
 * How a job is doing, whether or not its executions are still in the history. Executions that were vetoed count in
 * `days` and change nothing else, because the job did not run; so do the items of a sharded job, whose firing counts
 * for the rest with its own outcome. A failure is an execution that failed, timed out or was lost; each attempt counts.
 */
export interface JobStatus {
  readonly jobKey: JobKey
  /** Of the execution that began last; null while only vetoes are known, as are the three below. */
  readonly lastFireInstanceId: string | null
  readonly lastFireTimeMs: EpochMs | null
  /** Null for an execution that was lost, too. */
  readonly lastFinishedTimeMs: EpochMs | null
  readonly lastOutcome: ExecutionOutcome | null
  /** When an execution last ended well. */
  readonly lastSuccessTimeMs: EpochMs | null
  /** When an execution last failed. */
  readonly lastFailureTimeMs: EpochMs | null
  /** The beginning of the error of that failure, without what looks like a secret. */
  readonly lastErrorText: string | null
  /** Failures since an execution last ended well. */
  readonly consecutiveFailures: number
  /** As many days as were asked for, the newest first; days without executions are left out. */
  readonly days: readonly JobDay[]
}

export interface JobStatusQuery extends PageRequest<JobKey> {
  /** Only these jobs, at most 1,000. Default: all. */
  readonly jobKeys?: readonly JobKey[]
  /** Only jobs with at least so many failures in a row. Default 0. */
  readonly minConsecutiveFailures?: number
  /** How many days of counts to return, today included. 0 to 366, default 0. */
  readonly days?: number
}

/** What a store knows of one execution that ended, as far as the status of its job needs it. */
export interface EndedExecution {
  readonly jobKey: JobKey
  readonly fireInstanceId: string
  readonly outcome: ExecutionOutcome
  readonly fireTimeMs: EpochMs
  /** Null for an execution that was lost. */
  readonly finishedTimeMs: EpochMs | null
  /** When this became known, by the clock as it is then: when the end was told, or a lost execution discovered. */
  readonly knownTimeMs: EpochMs
  readonly errorText: string | null
  /** An item of a firing that was split, or such a firing as a whole, whose items have counted. */
  readonly part?: 'item' | 'firing'
}

/**
 * What the status of a job takes from the report of an execution, which is known now. When it finished is no measure
 * for that: it goes by the clock that was when it began, which may have been set since.
 */
export function endedExecution(
  { jobKey, fireInstanceId }: Pick<EndedExecution, 'jobKey' | 'fireInstanceId'>,
  { outcome, errorText, fireTimeMs, finishedTimeMs, shard }: ExecutionReport,
  knownTimeMs: EpochMs,
): EndedExecution {
  const ended = { jobKey, fireInstanceId, outcome, fireTimeMs, finishedTimeMs, knownTimeMs, errorText }
  return (shard ?? null) === null ? ended : { ...ended, part: 'item' }
}

/** What some executions of a job change in its status. */
export interface JobStatusChange {
  readonly jobKey: JobKey
  /** The execution that began last; null when all were vetoed. */
  last: Pick<EndedExecution, 'fireInstanceId' | 'fireTimeMs' | 'finishedTimeMs' | 'outcome'> | null
  lastSuccessTimeMs: EpochMs | null
  lastFailureTimeMs: EpochMs | null
  lastErrorText: string | null
  /** Failures since the last success among these executions. */
  failures: number
  /** By the number of the day since 1970, in UTC. */
  readonly days: Map<number, DayChange>
}

export interface DayChange {
  readonly counts: Record<ExecutionOutcome, number>
  runTimeMs: number
}

/** For how many days counts can be kept at most. */
export const statusDaysMax = 366

const dayMs = 86_400_000
/** How many characters of an error are kept. */
const errorTextLength = 1000

export function dayOf(timeMs: EpochMs): number {
  return Math.floor(timeMs / dayMs)
}

export function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

function noCounts(): Record<ExecutionOutcome, number> {
  return { succeeded: 0, failed: 0, vetoed: 0, interrupted: 0, timedOut: 0, lost: 0 }
}

/** Of a job of whose executions nothing is known. */
export function noStatus(jobKey: JobKey): JobStatus {
  return {
    jobKey,
    lastFireInstanceId: null,
    lastFireTimeMs: null,
    lastFinishedTimeMs: null,
    lastOutcome: null,
    lastSuccessTimeMs: null,
    lastFailureTimeMs: null,
    lastErrorText: null,
    consecutiveFailures: 0,
    days: [],
  }
}

export function newStatusChange(jobKey: JobKey): JobStatusChange {
  return {
    jobKey,
    last: null,
    lastSuccessTimeMs: null,
    lastFailureTimeMs: null,
    lastErrorText: null,
    failures: 0,
    days: new Map(),
  }
}

/** Adds one execution to a change. */
export function addExecution(change: JobStatusChange, execution: EndedExecution): void {
  const { outcome, fireTimeMs, finishedTimeMs, knownTimeMs, part } = execution
  if (part !== 'firing') addToDay(change, execution)
  if (outcome === 'vetoed' || part === 'item') return
  if (isAfter(fireTimeMs, change.last?.fireTimeMs ?? null, knownTimeMs)) {
    change.last = { fireInstanceId: execution.fireInstanceId, fireTimeMs, finishedTimeMs, outcome }
  }
  if (outcome === 'succeeded') {
    change.lastSuccessTimeMs = knownTimeMs
    change.failures = 0
  } else if (outcome !== 'interrupted') {
    change.lastSuccessTimeMs = before(change.lastSuccessTimeMs, knownTimeMs, knownTimeMs)
    change.lastFailureTimeMs = knownTimeMs
    change.lastErrorText = beginningOrNone(execution.errorText)
    change.failures++
  }
}

function beginningOrNone(text: string | null): string | null {
  return text === null ? null : beginningOf(text, errorTextLength)
}

function addToDay(change: JobStatusChange, execution: EndedExecution): void {
  const { outcome, fireTimeMs, finishedTimeMs, knownTimeMs } = execution
  const day = entryOfDay(change.days, dayOf(knownTimeMs))
  day.counts[outcome]++
  // What was vetoed ended without having run.
  if (finishedTimeMs !== null && outcome !== 'vetoed')
    day.runTimeMs += Math.max(0, finishedTimeMs - fireTimeMs)
}

/**
 * Adds a change to another one of the same job that was known before; what it tells may be older, of another node.
 * Whatever it tells is newer than what a clock gave that was ahead: until the clock has caught up, nothing else would
 * be the last of the job.
 */
export function addChange(change: JobStatusChange, later: JobStatusChange, nowMs: EpochMs): void {
  if (later.last !== null && isAfter(later.last.fireTimeMs, change.last?.fireTimeMs ?? null, nowMs)) {
    change.last = later.last
  }
  change.failures = failuresOfBoth(change, later, nowMs)
  change.lastSuccessTimeMs = isAfter(later.lastSuccessTimeMs, change.lastSuccessTimeMs, nowMs)
    ? later.lastSuccessTimeMs
    : before(change.lastSuccessTimeMs, later.lastFailureTimeMs, nowMs)
  if (isAfter(later.lastFailureTimeMs, change.lastFailureTimeMs, nowMs)) {
    change.lastFailureTimeMs = later.lastFailureTimeMs
    change.lastErrorText = later.lastErrorText
  }
  for (const [number, { counts, runTimeMs }] of later.days) {
    const day = entryOfDay(change.days, number)
    for (const outcome of Object.keys(counts) as ExecutionOutcome[]) day.counts[outcome] += counts[outcome]
    day.runTimeMs += runTimeMs
  }
}

/** Failures since the last success of both. Of those of the other change at least the last one is known by its time. */
function failuresOfBoth(known: JobStatusChange, added: JobStatusChange, nowMs: EpochMs): number {
  const { lastSuccessTimeMs: succeededMs, lastFailureTimeMs: failedMs } = known
  if (added.lastSuccessTimeMs !== null && isAfter(added.lastSuccessTimeMs, succeededMs, nowMs)) {
    const mayCount = known.failures > 0 && failedMs !== null && !isAhead(failedMs, nowMs)
    return added.failures + (mayCount && failedMs > added.lastSuccessTimeMs ? 1 : 0)
  }
  const isSince =
    succeededMs === null || isAhead(succeededMs, nowMs) || (added.lastFailureTimeMs ?? 0) > succeededMs
  return known.failures + (isSince ? added.failures : 0)
}

/** Whether a time is known and not before one that was known already, unless that is of a clock that was ahead. */
function isAfter(timeMs: EpochMs | null, known: EpochMs | null, nowMs: EpochMs): boolean {
  return timeMs !== null && (known === null || timeMs >= known || isAhead(known, nowMs))
}

/**
 * When the last success was, where a failure is added: before it, if a clock that was ahead says otherwise. Once the
 * clock has caught up, the success would count as one of that time.
 */
function before(
  successTimeMs: EpochMs | null,
  failureTimeMs: EpochMs | null,
  nowMs: EpochMs,
): EpochMs | null {
  return successTimeMs !== null && isAhead(successTimeMs, nowMs)
    ? (failureTimeMs ?? successTimeMs)
    : successTimeMs
}

function entryOfDay(days: Map<number, DayChange>, day: number): DayChange {
  let entry = days.get(day)
  if (entry === undefined) {
    entry = { counts: noCounts(), runTimeMs: 0 }
    days.set(day, entry)
  }
  return entry
}
