import type { EpochMs } from '../time/clock.ts'
import type { Page, PageRequest } from './queries.ts'

export const executionLogLevels = ['debug', 'info', 'warn', 'error'] as const
export type ExecutionLogLevel = (typeof executionLogLevels)[number]

/** A line that a job logged with `context.log`. */
export interface ExecutionLogLine {
  /** From 1, in the order in which the execution logged. */
  readonly line: number
  readonly timeMs: EpochMs
  readonly level: ExecutionLogLevel
  /** Ends with `…` when it was cut. */
  readonly message: string
  /** The fields as JSON, with `***` for what looks like a secret; ends with `…` when it was cut. Null for none. */
  readonly fieldsText: string | null
}

/** Lines that an execution logged one after the other. */
export interface ExecutionLogChunk {
  readonly fireInstanceId: string
  /** At least one. */
  readonly lines: readonly ExecutionLogLine[]
}

export interface ExecutionLogQuery extends PageRequest<number> {
  /** Only lines after the one of this number. */
  readonly after?: number
}

/** What a running execution last said of its progress. */
export interface ExecutionProgress {
  readonly fireInstanceId: string
  /** As JSON; null when the execution has ended. */
  readonly progressText: string | null
}

/** A page of lines, of all that follow or of as many as the page needs and one more. */
export function pageOfLines(
  lines: readonly ExecutionLogLine[],
  { after = 0 }: ExecutionLogQuery,
  size: number,
): Page<ExecutionLogLine, number> {
  const found = lines.filter(({ line }) => line > after)
  const items = found.slice(0, size)
  return { items, next: found.length > size ? (items.at(-1)?.line ?? null) : null }
}
