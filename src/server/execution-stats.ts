import type { ExecutionCursor, ExecutionOutcome, ExecutionSummary } from '../jobstore/queries.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { durationMsOf, latenessMsOf } from './wire/runs.ts'

type Counts = Readonly<Partial<Record<ExecutionOutcome, number>>>

interface SpreadJson {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** What ended within a time, in numbers. */
export interface ExecutionStatsJson {
  /** Later than asked for where there were more executions than are looked at. */
  readonly fromMs: number
  readonly toMs: number
  readonly count: number
  /** Whether executions that succeeded are among them: the history of this server's store keeps them. */
  readonly keepsSuccesses: boolean
  readonly byOutcome: Counts
  /** Null when there was none, as below. */
  readonly latenessMs: SpreadJson | null
  readonly durationMs: SpreadJson | null
  readonly bucketMs: number
  readonly buckets: readonly { readonly atMs: number; readonly byOutcome: Counts }[]
}

/** How many executions one answer looks at. */
export const lookedAtMax = 3000
const bucketsMax = 60

/** Counts what ended in a time. */
export async function lookAtExecutions(
  scheduler: Scheduler,
  fromMs: number,
  toMs: number,
): Promise<ExecutionStatsJson> {
  const found: ExecutionSummary[] = []
  let isWhole = false
  for (let after: ExecutionSummary | null = null; found.length < lookedAtMax; ) {
    const query = { from: new Date(fromMs), take: 1000, ...(after !== null && { after: cursorOf(after) }) }
    const { items, next }: Awaited<ReturnType<Scheduler['queryExecutions']>> =
      await scheduler.queryExecutions(query)
    found.push(...items)
    after = items.at(-1) ?? null
    isWhole = next === null || after === null
    if (isWhole) break
  }
  return {
    ...statsOf(found, isWhole ? fromMs : (found.at(-1)?.fireTimeMs ?? fromMs), toMs),
    keepsSuccesses: scheduler.getMetaData().historyKeepsSuccesses,
  }
}

function cursorOf({ fireTimeMs, fireInstanceId }: ExecutionCursor): ExecutionCursor {
  return { fireTimeMs, fireInstanceId }
}

function statsOf(
  found: readonly ExecutionSummary[],
  fromMs: number,
  toMs: number,
): Omit<ExecutionStatsJson, 'keepsSuccesses'> {
  const bucketMs = Math.max(1000, Math.ceil((toMs - fromMs) / bucketsMax))
  // None that begins later than what was looked at: it would be empty.
  const bucketCount = Math.max(1, Math.ceil((toMs - fromMs) / bucketMs))
  const buckets = Array.from({ length: bucketCount }, (): Record<string, number> => ({}))
  const byOutcome: Record<string, number> = {}
  for (const { outcome, fireTimeMs } of found) {
    byOutcome[outcome] = (byOutcome[outcome] ?? 0) + 1
    const bucket =
      buckets[Math.min(bucketCount - 1, Math.max(0, Math.floor((fireTimeMs - fromMs) / bucketMs)))]
    if (bucket !== undefined) bucket[outcome] = (bucket[outcome] ?? 0) + 1
  }
  const durations = found.map(durationMsOf).filter((ms) => ms !== null)
  return {
    fromMs,
    toMs,
    count: found.length,
    byOutcome,
    // When another attempt was planned is not in the history: from the firing, each would be late by its pause.
    latenessMs: spreadOf(found.filter(({ attempt }) => attempt === 1).map(latenessMsOf)),
    durationMs: spreadOf(durations),
    bucketMs,
    buckets: buckets.map((each, index) => ({ atMs: fromMs + index * bucketMs, byOutcome: each })),
  }
}

/** Nearest ranks. */
function spreadOf(values: readonly number[]): SpreadJson | null {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return sorted.length === 0 ? null : { p50: at(0.5), p99: at(0.99), max: at(1) }
}
