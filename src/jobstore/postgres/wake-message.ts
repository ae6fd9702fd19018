import { createHash } from 'node:crypto'
import type { EpochMs } from '../../time/clock.ts'
import type { SqlNames } from '../sql/kernel/sql-names.ts'

/** What nodes of one scheduler tell each other: something may fire at this instant. */
export interface WakeMessage {
  readonly earliestMs: EpochMs
  /** The instance id of the node that says so. */
  readonly from: string
}

/** The channel of one scheduler, at most 63 bytes, as PostgreSQL asks. */
export function wakeChannel({ schema, prefix }: SqlNames, schedulerName: string): string {
  // Nodes that do not name their schema mostly mean the one that is there by default. To be heard by too many is
  // harmless, so that is all that has to be told apart.
  const parts = [schema === '' ? 'public.' : schema.toLowerCase(), prefix.toLowerCase(), schedulerName]
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${prefix.toLowerCase()}wake_${hash.slice(0, 16)}`
}

export function writeWakeMessage({ earliestMs, from }: WakeMessage): string {
  return JSON.stringify({ earliestMs, from })
}

/** Null for anything else that somebody sent to the channel. */
export function readWakeMessage(payload: string | undefined): WakeMessage | null {
  try {
    const value: unknown = JSON.parse(payload ?? '')
    if (typeof value !== 'object' || value === null) return null
    const { earliestMs, from } = value as Partial<WakeMessage>
    const isRead = typeof earliestMs === 'number' && Number.isFinite(earliestMs) && typeof from === 'string'
    return isRead ? { earliestMs, from } : null
  } catch {
    return null
  }
}
