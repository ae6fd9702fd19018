import { checkOneOf } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, isObject, refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { type ExecutionLogLevel, executionLogLevels } from './execution-log.ts'
import { statusDaysMax } from './job-status.ts'
import type { ExecutionLogLimits, RecordBatch } from './job-store-records.ts'
import { type ExecutionOutcome, executionOutcomes } from './queries.ts'

/** Which ended executions a store keeps in its history; `scheduler.queryExecutions` lists them. */
export interface HistoryOptions {
  /**
   * `failures`: those that failed, timed out, were interrupted or were lost with their node; `all`: also those that
   * ended well or were vetoed, a row each. Default `failures`.
   */
  readonly record?: 'failures' | 'all'
  /**
   * Executions that fired longer ago than this are deleted. Milliseconds, at least 1,000, default 30 days
   * (2,592,000,000).
   */
  readonly maxAgeMs?: number
  /**
   * About how many executions are kept; the oldest are deleted first. 1 to 100,000,000, default 100,000, in memory
   * 10,000.
   */
  readonly maxRows?: number
  /**
   * A shorter age for some outcomes, as in `{ succeeded: 86_400_000 }`. Milliseconds, 1,000 to `maxAgeMs`. Default: all
   * outcomes are kept for `maxAgeMs`.
   */
  readonly maxAgeMsByOutcome?: Readonly<Partial<Record<ExecutionOutcome, number>>>
}

/** Options with all defaults filled in; `isKept` is false for a part that is false. */
type Resolved<Options> = Required<Options> & { readonly isKept: boolean }

export type ResolvedHistoryOptions = Resolved<HistoryOptions>

/** Whether executions with this outcome are remembered. */
export function keepsOutcome({ isKept, record }: ResolvedHistoryOptions, outcome: ExecutionOutcome): boolean {
  return isKept && (record === 'all' || (outcome !== 'succeeded' && outcome !== 'vetoed'))
}

/** What a scheduler gathers for a store with these options. */
export function keptKinds(options: ResolvedRecordOptions): (keyof RecordBatch)[] {
  const { audit, executionLog, jobStatus, misfires } = options
  const kinds: (keyof RecordBatch)[] = jobStatus.isKept ? ['statuses'] : []
  if (executionLog.isKept) kinds.push('logs')
  if (misfires.isKept) kinds.push('misfires')
  if (audit.isKept) kinds.push('audits')
  return kinds
}

export function logLimitsOf({ executionLog }: ResolvedRecordOptions): ExecutionLogLimits {
  const { isKept, level, maxLines } = executionLog
  return { level: isKept ? level : 'error', maxLines }
}

/** What a store keeps of each job: `scheduler.getJobStatus` answers it. */
export interface JobStatusOptions {
  /**
   * Counts by day are kept for so many days. The status of a job that does not exist any more is deleted when it has
   * not run for as long; in memory also where there are more than 200 such jobs. 1 to 366, default 90.
   */
  readonly maxDays?: number
}

/** What a store keeps of what jobs log with `context.log`; `scheduler.queryExecutionLog` answers it. */
export interface ExecutionLogOptions {
  /** The lowest level that is kept: `debug`, `info`, `warn` or `error`. Default `info`. */
  readonly level?: ExecutionLogLevel
  /** Most lines of one execution; the last one says so when there were more. 1 to 100,000, default 1,000. */
  readonly maxLines?: number
  /**
   * Lines that are older than this are deleted; those with an execution in the history of a database, when it ended
   * longer ago. Milliseconds, at least 1,000, default 7 days (604,800,000).
   */
  readonly maxAgeMs?: number
  /**
   * About how many rows are kept, each with the lines that one execution logged within a second; the oldest are deleted
   * first. Of executions in the history of a database, the last lines are kept with them, of as many executions. In
   * memory, about how many lines are kept; those of the execution that has not logged for longest are deleted first. 1
   * to 100,000,000, default 100,000, in memory 10,000.
   */
  readonly maxRows?: number
}

/**
 * What a store keeps of planned instants that did not become runs, one row for each range of them that a trigger missed
 * for one reason; `scheduler.queryMisfires` lists them.
 */
export interface MisfireOptions {
  /**
   * Rows that were noticed longer ago than this are deleted. Milliseconds, at least 1,000, default 30 days
   * (2,592,000,000).
   */
  readonly maxAgeMs?: number
  /**
   * About how many rows are kept; the oldest are deleted first. 1 to 100,000,000, default 100,000, in memory 10,000.
   */
  readonly maxRows?: number
}

/** What a store keeps of who did what; `scheduler.queryAudit` answers it. */
export interface AuditOptions {
  /** Entries that are older than this are deleted. Milliseconds, at least 1,000, default 365 days (31,536,000,000). */
  readonly maxAgeMs?: number
  /**
   * About how many entries are kept; the oldest are deleted first. 1 to 100,000,000, default 100,000, in memory 10,000.
   */
  readonly maxRows?: number
}

/** What a store remembers of executions and of people, and for how long. A part that is false is not kept. */
export interface RecordOptions {
  /** Which executions that ended are remembered, and for how long. Default: failures, for 30 days. */
  readonly history?: HistoryOptions | false
  /** What is kept of each job whether or not its executions are remembered. Default: counts for 90 days. */
  readonly jobStatus?: JobStatusOptions | false
  /** What is kept of what jobs log with `context.log`. Default: 1,000 lines of each execution, for 7 days. */
  readonly executionLog?: ExecutionLogOptions | false
  /** What is kept of planned instants that did not become runs. Default: a row for each range, for 30 days. */
  readonly misfires?: MisfireOptions | false
  /** What is kept of who did what. Default: 100,000 entries, in memory 10,000, for 365 days. */
  readonly audit?: AuditOptions | false
}

export interface ResolvedRecordOptions {
  readonly history: ResolvedHistoryOptions
  readonly jobStatus: Resolved<JobStatusOptions>
  readonly executionLog: Resolved<ExecutionLogOptions>
  readonly misfires: Resolved<MisfireOptions>
  readonly audit: Resolved<AuditOptions>
}

const records = ['failures', 'all'] as const

/** The names of {@link RecordOptions}. */
export const recordOptionNames = ['history', 'jobStatus', 'executionLog', 'misfires', 'audit'] as const

/** Fills in the defaults. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveRecordOptions(
  what: string,
  options: RecordOptions = {},
  maxRows = 100_000,
): ResolvedRecordOptions {
  return Object.freeze({
    history: resolved(what, 'history', options.history, (of, given) =>
      resolveHistoryOptions(of, { maxRows, ...given }),
    ),
    jobStatus: resolved(what, 'jobStatus', options.jobStatus, resolveJobStatusOptions),
    executionLog: resolved(what, 'executionLog', options.executionLog, (of, given) =>
      resolveExecutionLogOptions(of, { maxRows, ...given }),
    ),
    misfires: resolved(what, 'misfires', options.misfires, (of, given) =>
      resolveKeptRows(of, { maxRows, ...given }, 2_592_000_000),
    ),
    audit: resolved(what, 'audit', options.audit, (of, given) =>
      resolveKeptRows(of, { maxRows, ...given }, 31_536_000_000),
    ),
  })
}

/** False is the one way to say that a part is not kept. */
function resolved<Options extends object, Complete extends object>(
  what: string,
  name: keyof RecordOptions,
  options: Options | false | undefined,
  resolve: (of: string, options: Options | Record<string, never>) => Complete,
): Complete & { readonly isKept: boolean } {
  if (options !== undefined && options !== false && !isObject(options)) {
    const found = describeValue(options)
    throw new InvalidArgumentError(
      name,
      `${what}: '${name}' must be an object of options, or false to keep nothing, got ${found}.`,
      'ERR_INVALID_OPTION',
    )
  }
  const given = options === undefined || options === false ? {} : options
  return Object.freeze({ ...resolve(`${what}: ${name}`, given), isKept: options !== false })
}

function resolveJobStatusOptions(of: string, options: JobStatusOptions): Required<JobStatusOptions> {
  refuseUnknownKeys(of, options, ['maxDays'])
  const { maxDays = 90 } = options
  return { maxDays: requireInteger(of, 'maxDays', maxDays, { min: 1, max: statusDaysMax }) }
}

function resolveHistoryOptions(of: string, options: HistoryOptions): Required<HistoryOptions> {
  refuseUnknownKeys(of, options, ['record', 'maxAgeMs', 'maxRows', 'maxAgeMsByOutcome'])
  const { record = 'failures', maxAgeMs = 2_592_000_000, maxRows = 100_000, maxAgeMsByOutcome = {} } = options
  checkOneOf(records)(of, 'record', record, 'ERR_INVALID_OPTION')
  return {
    record,
    maxAgeMs: requireInteger(of, 'maxAgeMs', maxAgeMs, { min: 1000 }),
    maxRows: requireInteger(of, 'maxRows', maxRows, { min: 1, max: 100_000_000 }),
    maxAgeMsByOutcome: agesByOutcome(`${of}: maxAgeMsByOutcome`, maxAgeMsByOutcome, maxAgeMs),
  }
}

function agesByOutcome(
  of: string,
  ages: Readonly<Partial<Record<ExecutionOutcome, number>>>,
  max: number,
): Readonly<Partial<Record<ExecutionOutcome, number>>> {
  refuseUnknownKeys(of, ages, executionOutcomes)
  for (const [outcome, ageMs] of Object.entries(ages)) requireInteger(of, outcome, ageMs, { min: 1000, max })
  return Object.freeze({ ...ages })
}

/** What is kept for a time and up to a number of rows. */
function resolveKeptRows(
  of: string,
  options: AuditOptions & MisfireOptions,
  defaultAgeMs: number,
): Required<AuditOptions & MisfireOptions> {
  refuseUnknownKeys(of, options, ['maxAgeMs', 'maxRows'])
  const { maxAgeMs = defaultAgeMs, maxRows = 100_000 } = options
  return {
    maxAgeMs: requireInteger(of, 'maxAgeMs', maxAgeMs, { min: 1000 }),
    maxRows: requireInteger(of, 'maxRows', maxRows, { min: 1, max: 100_000_000 }),
  }
}

function resolveExecutionLogOptions(of: string, options: ExecutionLogOptions): Required<ExecutionLogOptions> {
  refuseUnknownKeys(of, options, ['level', 'maxLines', 'maxAgeMs', 'maxRows'])
  const { level = 'info', maxLines = 1000, maxAgeMs = 604_800_000, maxRows = 100_000 } = options
  checkOneOf(executionLogLevels)(of, 'level', level, 'ERR_INVALID_OPTION')
  return {
    level,
    maxLines: requireInteger(of, 'maxLines', maxLines, { min: 1, max: 100_000 }),
    maxAgeMs: requireInteger(of, 'maxAgeMs', maxAgeMs, { min: 1000 }),
    maxRows: requireInteger(of, 'maxRows', maxRows, { min: 1, max: 100_000_000 }),
  }
}
