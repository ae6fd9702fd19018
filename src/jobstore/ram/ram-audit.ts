import { BTreeEx } from 'sorted-btree/extended/index.js'
import type { EpochMs } from '../../time/clock.ts'
import { type AuditCursor, type AuditEntry, type AuditQuery, auditConditions } from '../audit.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'

/** Who did what, in the order in which it was done. */
export class RamAudit {
  readonly #options: ResolvedRecordOptions['audit']
  readonly #entries: BTreeEx<AuditCursor, AuditEntry> = new BTreeEx<AuditCursor, AuditEntry>(
    undefined,
    compareCursors,
  )

  constructor(options: ResolvedRecordOptions['audit']) {
    this.#options = options
  }

  /** An entry that is there already is replaced. */
  write(entries: readonly AuditEntry[]): void {
    for (const entry of entries) this.#entries.set(cursorOf(entry), entry)
    this.#deleteWhile(() => this.#entries.size > this.#options.maxRows)
  }

  prune(nowMs: EpochMs): void {
    this.#deleteWhile(({ timeMs }) => nowMs - timeMs > this.#options.maxAgeMs)
  }

  /** The newest first. */
  query(query: AuditQuery): Page<AuditEntry, AuditCursor> {
    const size = pageSize('queryAudit', query)
    const { after, from, to } = query
    const items: AuditEntry[] = []
    for (const [{ timeMs }, entry] of this.#entries.entriesReversed(after, undefined, true)) {
      if (from !== undefined && timeMs < from.getTime()) break
      if (to !== undefined && timeMs >= to.getTime()) continue
      if (auditConditions.some((name) => query[name] !== undefined && query[name] !== entry[name])) continue
      const last = items.at(-1)
      if (items.length === size && last !== undefined) return { items, next: cursorOf(last) }
      items.push(entry)
    }
    return { items, next: null }
  }

  #deleteWhile(isSurplus: (oldest: AuditCursor) => boolean): void {
    for (;;) {
      const oldest = this.#entries.minKey()
      if (oldest === undefined || !isSurplus(oldest)) return
      this.#entries.delete(oldest)
    }
  }
}

function cursorOf({ timeMs, id }: AuditCursor): AuditCursor {
  return { timeMs, id }
}

function compareCursors(a: AuditCursor, b: AuditCursor): number {
  if (a.timeMs !== b.timeMs) return a.timeMs - b.timeMs
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
