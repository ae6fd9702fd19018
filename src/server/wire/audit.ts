import { z } from 'zod'
import { type AuditCursor, type AuditEntry, auditOutcomes } from '../../jobstore/audit.ts'
import { instantMs, textUpTo } from './fields.ts'

/** An entry as it is stored: its texts are bounded and masked already. */
export const auditEntryJson: z.ZodType<AuditEntry> = z.strictObject({
  timeMs: instantMs,
  id: z.string(),
  by: z.string().nullable(),
  address: z.string().nullable(),
  node: z.string(),
  operation: z.string(),
  targetGroup: z.string().nullable(),
  targetName: z.string().nullable(),
  outcome: z.enum(auditOutcomes),
  times: z.number(),
  errorText: z.string().nullable(),
  requestText: z.string().nullable(),
  beforeText: z.string().nullable(),
  afterText: z.string().nullable(),
})

export const auditCursorJson: z.ZodType<AuditCursor> = z.strictObject({
  timeMs: instantMs,
  id: textUpTo(500),
})
