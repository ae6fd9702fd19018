import type { AwaitedResult } from '../jobstore/awaited-results.ts'
import { DueWatch, type DueWatchParts, type Looked, shortestMs } from './due-watch.ts'

export interface ResultDeadlinesParts extends Pick<DueWatchParts, 'jobStore' | 'clock' | 'logger'> {
  /** Whether there can be firings that go on elsewhere. */
  readonly isWanted: () => boolean
  readonly endLate: (awaited: AwaitedResult) => Promise<void>
}

/**
 * Ends firings that go on elsewhere and whose deadline has passed. Several nodes may find the same one; the store lets
 * one of them end it.
 */
export class ResultDeadlines extends DueWatch {
  readonly #isWanted: () => boolean

  constructor(parts: ResultDeadlinesParts) {
    super({
      ...parts,
      what: 'results that are overdue',
      look: () => endSome(parts),
      failed: { nextMs: null, whenDueMs: 0, atMostMs: shortestMs },
    })
    this.#isWanted = parts.isWanted
  }

  override start(): void {
    if (this.#isWanted()) super.start()
  }
}

async function endSome({ clock, endLate, jobStore }: ResultDeadlinesParts): Promise<Looked> {
  const found = await jobStore.awaitedResults?.overdue(clock.now())
  const overdue = found?.overdue ?? []
  const ends = await Promise.allSettled(overdue.map((awaited) => endLate(awaited)))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  // More may be overdue than one answer holds.
  const atMostMs = overdue.length > 0 ? shortestMs : Number.POSITIVE_INFINITY
  return { nextMs: found?.nextMs ?? null, whenDueMs: 0, atMostMs }
}
