import { checkBoolean } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { statusDaysMax } from './job-status.ts'

/** Which ended executions a store keeps in its history; `scheduler.queryExecutions` lists them. */
export interface HistoryOptions {
  /**
   * `failures`: those that failed, timed out, were interrupted or were lost with their node; `all`: also those that
   * ended well or were vetoed, a row each; `off`: none. Default `failures`.
   */
  readonly record?: 'off' | 'failures' | 'all'
  /**
   * Executions that began longer ago than this are deleted. Milliseconds, at least 1,000, default 30 days
   * (2,592,000,000).
   */
  readonly maxAgeMs?: number
  /** About how many executions are kept; the oldest are deleted first. 1 to 100,000,000, default 100,000. */
  readonly maxRows?: number
}

export type ResolvedHistoryOptions = Required<HistoryOptions>

/** What a store keeps of each job: `scheduler.getJobStatus` answers it. */
export interface JobStatusOptions {
  /** Whether the status of jobs is kept. Default true. */
  readonly record?: boolean
  /**
   * Counts by day are kept for so many days. The status of a job that does not exist any more is deleted when it has
   * not run for as long. 1 to 366, default 90.
   */
  readonly maxDays?: number
}

/** What a store remembers of executions, and for how long. */
export interface RecordOptions {
  /** Which executions that ended are remembered, and for how long. Default: failures, for 30 days. */
  readonly history?: HistoryOptions
  /** What is kept of each job whether or not its executions are remembered. Default: counts for 90 days. */
  readonly jobStatus?: JobStatusOptions
}

export interface ResolvedRecordOptions {
  readonly history: ResolvedHistoryOptions
  readonly jobStatus: Required<JobStatusOptions>
}

const records = ['off', 'failures', 'all'] as const

/** The names of {@link RecordOptions}. */
export const recordOptionNames = ['history', 'jobStatus'] as const

/** Fills in the defaults. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveRecordOptions(what: string, options: RecordOptions = {}): ResolvedRecordOptions {
  return Object.freeze({
    history: resolveHistoryOptions(what, options.history),
    jobStatus: resolveJobStatusOptions(what, options.jobStatus),
  })
}

function resolveJobStatusOptions(what: string, options: JobStatusOptions = {}): Required<JobStatusOptions> {
  const of = `${what}: jobStatus`
  refuseUnknownKeys(of, options, ['record', 'maxDays'])
  const { record = true, maxDays = 90 } = options
  checkBoolean(of, 'record', record, 'ERR_INVALID_OPTION')
  return Object.freeze({
    record,
    maxDays: requireInteger(of, 'maxDays', maxDays, { min: 1, max: statusDaysMax }),
  })
}

function resolveHistoryOptions(what: string, options: HistoryOptions = {}): ResolvedHistoryOptions {
  refuseUnknownKeys(`${what}: history`, options, ['record', 'maxAgeMs', 'maxRows'])
  const { record = 'failures', maxAgeMs = 2_592_000_000, maxRows = 100_000 } = options
  if (!records.includes(record)) {
    throw new InvalidArgumentError(
      'record',
      `${what}: history: 'record' must be one of ${records.join(', ')}, got ${describeValue(record)}.`,
      'ERR_INVALID_OPTION',
    )
  }
  return Object.freeze({
    record,
    maxAgeMs: requireInteger(`${what}: history`, 'maxAgeMs', maxAgeMs, { min: 1000 }),
    maxRows: requireInteger(`${what}: history`, 'maxRows', maxRows, { min: 1, max: 100_000_000 }),
  })
}
