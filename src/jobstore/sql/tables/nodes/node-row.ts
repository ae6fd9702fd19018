import type { EpochMs } from '../../../../time/clock.ts'

/** A node's way of locking rows. */
export type NodeLocking = 'skipLocked' | 'quartzLocks'

/** The information of a node about itself. */
export interface NodeInfo {
  /** Of this package. */
  readonly version: string
  readonly pid: number
  readonly host: string
  readonly jobTypes: readonly string[]
  /** Null where the database has one way of locking only. */
  readonly locking: NodeLocking | null
  /** How far the database's time is ahead of the machine's clock; null while that is not known. */
  readonly clockOffsetMs: number | null
  readonly failedAfterMs: number
}

/** A row of `scheduler_state`. */
export interface NodeRow {
  readonly instanceId: string
  /** Unique for each start of a node; null in a row of Java. */
  readonly bootId: string | null
  /** On the database's time; in a row of Java on its machine's. */
  readonly lastCheckInMs: EpochMs
  readonly checkInIntervalMs: number
  readonly info: NodeInfo | null
  /** There is no row in the scheduler state; only firings name this instance. */
  readonly isOrphan: boolean
}

/** The maximum of the option of this name. */
export const failedAfterMaxMs = 3_600_000

/** What Java adds to the check-in interval before it takes a node for failed. */
const javaGraceMs = 7500

/** For how long a node must be silent before it has failed. */
export function failedAfterMs(row: NodeRow, ownFailedAfterMs: number): number {
  if (row.isOrphan) return ownFailedAfterMs
  return row.info?.failedAfterMs ?? row.checkInIntervalMs + javaGraceMs
}

/** Java's locking for its rows; null where it does not matter. */
export function lockingOf(row: NodeRow): NodeLocking | null {
  if (row.isOrphan) return null
  return row.bootId === null ? 'quartzLocks' : (row.info?.locking ?? null)
}

/** Reads the information of a node; null when it cannot be read, so that the node can still be recovered. */
export function parseNodeInfo(json: string | null): NodeInfo | null {
  if (json === null) return null
  try {
    const value: unknown = JSON.parse(json)
    return isNodeInfo(value) ? value : null
  } catch {
    return null
  }
}

function isNodeInfo(value: unknown): value is NodeInfo {
  if (typeof value !== 'object' || value === null) return false
  const info = value as Partial<Record<keyof NodeInfo, unknown>>
  return (
    typeof info.version === 'string' &&
    typeof info.pid === 'number' &&
    typeof info.host === 'string' &&
    Array.isArray(info.jobTypes) &&
    (info.locking === null || info.locking === 'skipLocked' || info.locking === 'quartzLocks') &&
    (info.clockOffsetMs === null || typeof info.clockOffsetMs === 'number') &&
    typeof info.failedAfterMs === 'number' &&
    info.failedAfterMs > 0 &&
    info.failedAfterMs <= failedAfterMaxMs
  )
}
