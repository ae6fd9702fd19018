import { type AuditCursor, type AuditEntry, type AuditQuery, auditConditions } from '../audit.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import { TimedRows } from './timed-rows.ts'

/** Who did what, in the order in which it was done. */
export class RamAudit extends TimedRows<AuditCursor, AuditEntry> {
  constructor({ maxAgeMs, maxRows }: ResolvedRecordOptions['audit']) {
    super({
      maxAgeMs,
      maxRows,
      timeOf: ({ timeMs }) => timeMs,
      cursorOf: ({ timeMs, id }) => ({ timeMs, id }),
    })
  }

  /** The newest first. */
  query(query: AuditQuery): Page<AuditEntry, AuditCursor> {
    return this.page(query, pageSize('queryAudit', query), (entry) =>
      auditConditions.every((name) => query[name] === undefined || query[name] === entry[name]),
    )
  }
}
