import { InvalidArgumentError } from '../../../../core/errors.ts'
import { describeValue, refuseUnknownKeys, requireInteger } from '../../../../core/options.ts'

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

const records = ['off', 'failures', 'all'] as const

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveHistoryOptions(what: string, options: HistoryOptions = {}): ResolvedHistoryOptions {
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
