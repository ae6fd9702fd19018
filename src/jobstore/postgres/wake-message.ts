import { createHash } from 'node:crypto'
import type { EpochMs } from '../../time/clock.ts'
import type { SqlNames } from '../sql/kernel/sql-names.ts'

/** The message between nodes of one scheduler: something has changed, and maybe a trigger may fire earlier. */
export interface WakeMessage {
  /** A trigger may fire at this instant; null when none fires earlier than before. */
  readonly earliestMs: EpochMs | null
  /** The instance id of the sender. */
  readonly from: string
}

/** The channel of one scheduler, at most 63 bytes, as PostgreSQL asks. */
export function wakeChannel({ schema, prefix }: SqlNames, schedulerName: string): string {
  // Nodes without the option `schema` mostly use the default one. A message that reaches the nodes of another schema is
  // harmless, so the schema as it was given is enough to tell channels apart.
  const parts = [schema === '' ? 'public.' : schema.replaceAll('"', ''), prefix.toLowerCase(), schedulerName]
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${prefix.toLowerCase()}wake_${hash.slice(0, 16)}`
}

export function writeWakeMessage({ earliestMs, from }: WakeMessage): string {
  return JSON.stringify({ earliestMs, from })
}

/** Null for any other message on the channel. */
export function readWakeMessage(payload: string | undefined): WakeMessage | null {
  try {
    const value: unknown = JSON.parse(payload ?? '')
    if (typeof value !== 'object' || value === null) return null
    const { earliestMs, from } = value as Partial<WakeMessage>
    if ((earliestMs !== null && !Number.isFinite(earliestMs)) || typeof from !== 'string') return null
    return earliestMs === undefined ? null : { earliestMs, from }
  } catch {
    return null
  }
}
