import { BTreeEx } from 'sorted-btree/extended/index.js'
import { beginningOf } from '../../core/text-beginning.ts'
import type { Clock, EpochMs } from '../../time/clock.ts'
import { isAhead } from '../clock-ahead.ts'
import type { ExecutionTexts } from '../execution-report.ts'
import type { JobCompletion } from '../job-store.ts'
import type { EndedSharding } from '../job-store-shards.ts'
import {
  dataNeedles,
  type ExecutionCursor,
  type ExecutionDetails,
  type ExecutionOutcome,
  type ExecutionQuery,
  type ExecutionSummary,
  type Page,
  pageSize,
  wantedOutcomes,
} from '../queries.ts'
import { keepsOutcome, type ResolvedHistoryOptions } from '../record-options.ts'

/** What is asked of the scheduler. */
export interface RamRecordsContext {
  readonly clock: Clock
  readonly instanceId: string
}

interface Entry {
  readonly summary: ExecutionSummary
  readonly texts: ExecutionTexts
}

/** Most attempts at one firing that are listed. */
const attemptsMax = 100

const noTexts: ExecutionTexts = { progressText: null, resultText: null, dataText: null }

/** Executions that ended, in the order in which they began, and by id. */
export class RamHistory {
  readonly #options: ResolvedHistoryOptions
  readonly #context: () => RamRecordsContext
  readonly #entries: BTreeEx<ExecutionCursor, Entry> = new BTreeEx<ExecutionCursor, Entry>(
    undefined,
    compareCursors,
  )
  readonly #byId = new Map<string, Entry>()

  constructor(options: ResolvedHistoryOptions, context: () => RamRecordsContext) {
    this.#options = options
    this.#context = context
  }

  keeps(outcome: ExecutionOutcome): boolean {
    return keepsOutcome(this.#options, outcome)
  }

  /** Remembers a sharded firing whose items have ended. */
  noteSharding(
    ended: EndedSharding,
    { jobType, node }: { readonly jobType: string; readonly node: string },
  ): void {
    if (!this.keeps(ended.outcome)) return
    const summary: ExecutionSummary = {
      fireInstanceId: ended.fireInstanceId,
      jobKey: ended.jobKey,
      jobType,
      triggerKey: ended.triggerKey,
      node,
      scheduledFireTimeMs: ended.scheduledFireTimeMs,
      fireTimeMs: ended.fireTimeMs,
      finishedTimeMs: ended.finishedTimeMs,
      attempt: 1,
      recovering: false,
      outcome: ended.outcome,
      errorText: ended.errorText,
      acquiredTimeMs: null,
      beganTimeMs: ended.fireTimeMs,
      manual: false,
      triggeredBy: null,
      previousFireInstanceId: null,
      shard: null,
    }
    this.#add({ summary, texts: noTexts })
  }

  /** Remembers an execution that ended. */
  note({ fireInstanceId, jobDetail, report }: JobCompletion): void {
    if (report === undefined || !this.keeps(report.outcome)) return
    const summary: ExecutionSummary = {
      fireInstanceId,
      jobKey: jobDetail.key,
      jobType: jobDetail.jobType,
      triggerKey: report.triggerKey,
      node: this.#context().instanceId,
      scheduledFireTimeMs: report.scheduledFireTimeMs,
      fireTimeMs: report.fireTimeMs,
      finishedTimeMs: report.finishedTimeMs,
      attempt: report.attempt,
      recovering: report.recovering,
      outcome: report.outcome,
      errorText: report.errorText === null ? null : beginningOf(report.errorText, 2000),
      acquiredTimeMs: report.acquiredTimeMs ?? null,
      beganTimeMs: report.beganTimeMs ?? null,
      manual: report.manual ?? false,
      triggeredBy: report.triggeredBy ?? null,
      previousFireInstanceId: report.previousFireInstanceId ?? null,
      shard: report.shard ?? null,
    }
    this.#add({ summary, texts: report.texts ?? noTexts })
  }

  #add(entry: Entry): void {
    const { summary } = entry
    this.#entries.set(cursorOf(summary), entry)
    this.#byId.set(summary.fireInstanceId, entry)
    if (this.#entries.size <= this.#options.maxRows) return
    // One of a clock that was ahead would stay as the latest while each new one went.
    const latest = this.#entries.maxKey()
    const isOfClockAhead = latest !== undefined && isAhead(latest.fireTimeMs, this.#context().clock.now())
    this.#delete(isOfClockAhead ? latest : this.#entries.minKey())
  }

  prune(nowMs: EpochMs): void {
    const { maxAgeMs, maxAgeMsByOutcome } = this.#options
    const shortestMs = Math.min(maxAgeMs, ...Object.values(maxAgeMsByOutcome))
    const old: ExecutionCursor[] = []
    for (const [cursor, { summary }] of this.#entries.entries()) {
      const ageMs = nowMs - cursor.fireTimeMs
      if (ageMs <= shortestMs) break
      if (ageMs > (maxAgeMsByOutcome[summary.outcome] ?? maxAgeMs)) old.push(cursor)
    }
    for (const cursor of old) this.#delete(cursor)
  }

  query(query: ExecutionQuery): Page<ExecutionSummary, ExecutionCursor> {
    const size = pageSize('queryExecutions', query)
    const accepts = filterOf(query)
    const items: ExecutionSummary[] = []
    for (const [cursor, entry] of this.#entries.entriesReversed(query.after, undefined, true)) {
      if (query.from !== undefined && cursor.fireTimeMs < query.from.getTime()) break
      if (!accepts(entry)) continue
      if (items.length === size) return { items, next: nextOf(items) }
      items.push(entry.summary)
    }
    return { items, next: null }
  }

  get(fireInstanceId: string): ExecutionDetails | null {
    const entry = this.#byId.get(fireInstanceId)
    if (entry === undefined) return null
    const { triggerKey, scheduledFireTimeMs } = entry.summary
    const attempts = Array.from(this.#byId.values(), ({ summary }) => summary).filter(
      (other) => other.scheduledFireTimeMs === scheduledFireTimeMs && other.triggerKey.equals(triggerKey),
    )
    attempts.sort((a, b) => a.attempt - b.attempt)
    return { ...entry.summary, ...entry.texts, attempts: attempts.slice(0, attemptsMax) }
  }

  #delete(cursor: ExecutionCursor | undefined): void {
    if (cursor === undefined) return
    this.#entries.delete(cursor)
    this.#byId.delete(cursor.fireInstanceId)
  }
}

function filterOf(query: ExecutionQuery): (entry: Entry) => boolean {
  const {
    data,
    errorContains,
    firingId,
    jobGroup,
    jobKey,
    laterThanMs,
    manual,
    node,
    to,
    tookLongerThanMs,
    triggerKey,
  } = query
  const outcomes = wantedOutcomes(query)
  const needles = data === undefined ? null : dataNeedles(data)
  return ({ summary: entry, texts }) => {
    const { finishedTimeMs, fireTimeMs } = entry
    const hasRun = finishedTimeMs !== null && entry.outcome !== 'vetoed'
    const tookMs = hasRun ? finishedTimeMs - (entry.beganTimeMs ?? fireTimeMs) : Number.NEGATIVE_INFINITY
    return (
      (jobKey === undefined || entry.jobKey.equals(jobKey)) &&
      (triggerKey === undefined || entry.triggerKey.equals(triggerKey)) &&
      (jobGroup === undefined || entry.jobKey.group === jobGroup) &&
      (node === undefined || entry.node === node) &&
      (outcomes === null || outcomes.includes(entry.outcome)) &&
      (to === undefined || fireTimeMs < to.getTime()) &&
      (laterThanMs === undefined || fireTimeMs - entry.scheduledFireTimeMs > laterThanMs) &&
      (tookLongerThanMs === undefined || tookMs > tookLongerThanMs) &&
      (errorContains === undefined || entry.errorText?.includes(errorContains) === true) &&
      (firingId === undefined || entry.shard?.firingId === firingId) &&
      (manual === undefined || entry.manual === manual) &&
      (needles === null || needles.some((needle) => texts.dataText?.includes(needle) === true))
    )
  }
}

function cursorOf({ fireTimeMs, fireInstanceId }: ExecutionCursor): ExecutionCursor {
  return { fireTimeMs, fireInstanceId }
}

function nextOf(items: readonly ExecutionSummary[]): ExecutionCursor | null {
  const last = items.at(-1)
  return last === undefined ? null : cursorOf(last)
}

function compareCursors(a: ExecutionCursor, b: ExecutionCursor): number {
  if (a.fireTimeMs !== b.fireTimeMs) return a.fireTimeMs - b.fireTimeMs
  return a.fireInstanceId < b.fireInstanceId ? -1 : Number(a.fireInstanceId > b.fireInstanceId)
}
