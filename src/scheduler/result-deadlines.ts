import type { AwaitedResult } from '../jobstore/awaited-results.ts'
import { settledWithin } from '../time/settled-within.ts'
import { DueWatch, type DueWatchParts, type Looked, shortestMs } from './due-watch.ts'

export interface ResultDeadlinesParts extends Pick<DueWatchParts, 'jobStore' | 'clock' | 'logger'> {
  /** Whether there can be firings that go on elsewhere. */
  readonly isWanted: () => boolean
  readonly endLate: (awaited: AwaitedResult) => Promise<void>
}

/**
 * Ends firings that go on elsewhere and whose deadline has passed. Several nodes may find the same one; the store lets
 * one of them end it. One whose end is held up, by a listener or by another session's lock, holds up no others.
 */
export class ResultDeadlines extends DueWatch {
  readonly #isWanted: () => boolean

  constructor(parts: ResultDeadlinesParts) {
    const ending = new Set<string>()
    super({
      ...parts,
      what: 'results that are overdue',
      look: () => endSome(parts, ending),
      failed: { nextMs: null, whenDueMs: 0, atMostMs: shortestMs },
    })
    this.#isWanted = parts.isWanted
  }

  override start(): void {
    if (this.#isWanted()) super.start()
  }
}

/** `ending`: the fire instance ids of those that are being ended, also since earlier looks. */
async function endSome(
  { clock, endLate, jobStore }: ResultDeadlinesParts,
  ending: Set<string>,
): Promise<Looked> {
  const found = await jobStore.awaitedResults?.overdue(clock.now())
  const overdue = found?.overdue ?? []
  const ends = overdue
    .filter(({ bundle }) => !ending.has(bundle.fireInstanceId))
    .map(async (awaited) => {
      const { fireInstanceId } = awaited.bundle
      ending.add(fireInstanceId)
      try {
        await endLate(awaited)
      } finally {
        ending.delete(fireInstanceId)
      }
    })
  if (ends.length > 0) await settledWithin(clock, shortestMs, Promise.all(ends))
  // More may be overdue than one answer holds, and what could not be ended is tried again.
  const atMostMs = overdue.length > 0 ? shortestMs : Number.POSITIVE_INFINITY
  return { nextMs: found?.nextMs ?? null, whenDueMs: 0, atMostMs }
}
