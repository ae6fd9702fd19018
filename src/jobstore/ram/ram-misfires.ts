import { BTreeEx } from 'sorted-btree/extended/index.js'
import type { EpochMs } from '../../time/clock.ts'
import { type Misfire, type MisfireCursor, type MisfireQuery, wantedCauses } from '../misfires.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'

/** Planned instants that did not become runs, in the order in which they were noticed. */
export class RamMisfires {
  readonly #options: ResolvedRecordOptions['misfires']
  readonly #entries: BTreeEx<MisfireCursor, Misfire> = new BTreeEx<MisfireCursor, Misfire>(
    undefined,
    compareCursors,
  )

  constructor(options: ResolvedRecordOptions['misfires']) {
    this.#options = options
  }

  write(misfires: readonly Misfire[]): void {
    for (const misfire of misfires) {
      this.#entries.set(cursorOf(misfire), misfire)
      if (this.#entries.size > this.#options.maxRows) this.#deleteFirst()
    }
  }

  /** Deletes what is too old. */
  prune(nowMs: EpochMs): void {
    for (;;) {
      const oldest = this.#entries.minKey()
      if (oldest === undefined || nowMs - oldest.noticedTimeMs <= this.#options.maxAgeMs) return
      this.#entries.delete(oldest)
    }
  }

  query(query: MisfireQuery): Page<Misfire, MisfireCursor> {
    const size = pageSize('queryMisfires', query)
    const accepts = filterOf(query)
    const items: Misfire[] = []
    for (const [{ noticedTimeMs }, misfire] of this.#entries.entriesReversed(query.after, undefined, true)) {
      if (query.from !== undefined && noticedTimeMs < query.from.getTime()) break
      if (!accepts(misfire)) continue
      const last = items.at(-1)
      if (items.length === size && last !== undefined) return { items, next: cursorOf(last) }
      items.push(misfire)
    }
    return { items, next: null }
  }

  #deleteFirst(): void {
    const oldest = this.#entries.minKey()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}

function filterOf(query: MisfireQuery): (misfire: Misfire) => boolean {
  const { jobGroup, jobKey, to, triggerKey } = query
  const causes = wantedCauses(query)
  return (misfire) =>
    (triggerKey === undefined || misfire.triggerKey.equals(triggerKey)) &&
    (jobKey === undefined || misfire.jobKey?.equals(jobKey) === true) &&
    (jobGroup === undefined || misfire.jobKey?.group === jobGroup) &&
    (causes === null || causes.includes(misfire.cause)) &&
    (to === undefined || misfire.noticedTimeMs < to.getTime())
}

function cursorOf({ noticedTimeMs, id }: MisfireCursor): MisfireCursor {
  return { noticedTimeMs, id }
}

function compareCursors(a: MisfireCursor, b: MisfireCursor): number {
  if (a.noticedTimeMs !== b.noticedTimeMs) return a.noticedTimeMs - b.noticedTimeMs
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
