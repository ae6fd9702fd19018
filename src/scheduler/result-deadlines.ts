import {
  type AwaitedResult,
  awaitedResultsAtOnce,
  type JobStoreAwaitedResults,
} from '../jobstore/awaited-results.ts'
import type { EpochMs } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'
import { DueWatch, type DueWatchParts, type Looked, lookIntervalMs, shortestMs } from './due-watch.ts'

export interface ResultDeadlinesParts extends Pick<DueWatchParts, 'jobStore' | 'clock' | 'logger'> {
  /** Whether this node has the code of remote jobs. */
  readonly hasRemoteJobs: () => boolean
  readonly endLate: (awaited: AwaitedResult) => Promise<void>
}

/**
 * How often a node without remote jobs looks while it knows of no deadline. Their code may be gone from all nodes while
 * firings of theirs are in flight.
 */
const seldomMs = 60_000

/**
 * Ends firings that go on elsewhere and whose deadline has passed. Several nodes may find the same one; the store lets
 * one of them end it. One whose end is held up, by a listener or by another session's lock, holds up no others.
 */
export class ResultDeadlines extends DueWatch {
  readonly #hasStore: boolean

  constructor(parts: ResultDeadlinesParts) {
    const ending = new Set<string>()
    let knowsAny = true
    super({
      ...parts,
      what: 'results that are overdue',
      look: async () => {
        const looked = await endSome(parts, ending)
        knowsAny = looked.nextMs !== null || looked.atMostMs < Number.POSITIVE_INFINITY
        return looked
      },
      failed: { nextMs: null, whenDueMs: 0, atMostMs: shortestMs },
      intervalMs: () => (knowsAny || parts.hasRemoteJobs() ? lookIntervalMs : seldomMs),
    })
    this.#hasStore = parts.jobStore.awaitedResults !== null
  }

  override start(): void {
    if (this.#hasStore) super.start()
  }
}

/** `ending`: the fire instance ids of those that are being ended, also since earlier looks. */
async function endSome(
  { clock, endLate, jobStore }: ResultDeadlinesParts,
  ending: Set<string>,
): Promise<Looked> {
  const { left, isAny, nextMs } = await leftToEnd(jobStore.awaitedResults, clock.now(), ending)
  const ends = left.map(async (awaited) => {
    const { fireInstanceId } = awaited.bundle
    ending.add(fireInstanceId)
    try {
      await endLate(awaited)
    } finally {
      ending.delete(fireInstanceId)
    }
  })
  if (ends.length > 0) await settledWithin(clock, shortestMs, Promise.all(ends))
  // More may be overdue than was read, and what could not be ended is tried again.
  return { nextMs, whenDueMs: 0, atMostMs: isAny ? shortestMs : Number.POSITIVE_INFINITY }
}

interface Left {
  readonly left: readonly AwaitedResult[]
  /** Whether any is overdue. */
  readonly isAny: boolean
  readonly nextMs: EpochMs | null
}

/** Those that are not being ended. Those that are, or that cannot be read, may come before them and fill answers. */
async function leftToEnd(
  store: JobStoreAwaitedResults | null,
  nowMs: EpochMs,
  ending: ReadonlySet<string>,
): Promise<Left> {
  const left = new Map<string, AwaitedResult>()
  let isAny = false
  let nextMs: EpochMs | null = null
  let most = ending.size + awaitedResultsAtOnce
  for (let skip = 0; store !== null && skip < most; skip += awaitedResultsAtOnce) {
    const found = await store.overdue(nowMs, skip)
    const others = found.overdue.filter(({ bundle }) => !ending.has(bundle.fireInstanceId))
    for (const awaited of others) left.set(awaited.bundle.fireInstanceId, awaited)
    isAny ||= found.overdue.length > 0
    nextMs = found.nextMs
    most += found.seen - found.overdue.length
    if (found.seen < awaitedResultsAtOnce || left.size >= awaitedResultsAtOnce) break
  }
  return { left: [...left.values()], isAny, nextMs }
}
