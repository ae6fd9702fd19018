import type { EpochMs } from '../../../../time/clock.ts'
import type { NodeReport, NodeStatus } from '../../../cluster-view.ts'

/** A node's way of locking rows. */
export type NodeLocking = 'skipLocked' | 'quartzLocks'

/** What the database holds for as long as the session of a node's check-ins lives. */
export interface NodeWitness {
  readonly key: number
  /** A node whose witness is gone has failed when its row stands still for this long. Milliseconds. */
  readonly graceMs: number
}

/** The information of a node about itself. */
export interface NodeInfo extends NodeReport {
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
  /** How many jobs of a group may run at once. Nodes of older versions do not write it. */
  readonly jobGroupLimits?: Readonly<Record<string, number>>
  /** Null where the end of the session cannot be seen. */
  readonly witness: NodeWitness | null
}

/** A row of `scheduler_state`. */
export interface NodeRow {
  readonly instanceId: string
  /** Unique for each start of a node; null in a row of Java. */
  readonly bootId: string | null
  /** On the database's time; in a row of Java on its machine's. */
  readonly lastCheckInTimeMs: EpochMs
  readonly checkInIntervalMs: number
  readonly info: NodeInfo | null
  /** There is no row in the scheduler state; only firings name this instance. */
  readonly isOrphan: boolean
}

/** Whether a row is of the same check-in of the same start. */
export function isSameCheckIn(a: NodeRow, b: NodeRow): boolean {
  return a.bootId === b.bootId && a.lastCheckInTimeMs === b.lastCheckInTimeMs && a.isOrphan === b.isOrphan
}

/** The maximum of the option of this name. */
export const failedAfterMaxMs = 3_600_000

const graceMinMs = 100

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
    return isNodeInfo(value) ? { ...value, ...reportOf(value) } : null
  } catch {
    return null
  }
}

type Unsure<Name extends keyof NodeInfo> = { readonly [Each in Name]?: unknown }
type Added = 'witness' | keyof NodeReport

/** What nodes of older versions do not write. */
function reportOf({ witness, status, eventLoopLagMs }: Unsure<Added>): Pick<NodeInfo, Added> {
  return {
    witness: isWitness(witness) ? witness : null,
    status: statuses.find((known) => known === status) ?? null,
    eventLoopLagMs: typeof eventLoopLagMs === 'number' ? eventLoopLagMs : null,
  }
}

const statuses: readonly NodeStatus[] = ['started', 'standby', 'draining']

/** One without a grace would make a cut connection a failure. */
function isWitness(value: unknown): value is NodeWitness {
  if (typeof value !== 'object' || value === null) return false
  const { key, graceMs } = value as Partial<Record<keyof NodeWitness, unknown>>
  return Number.isInteger(key) && typeof graceMs === 'number' && graceMs >= graceMinMs
}

function isNodeInfo(value: unknown): value is Omit<NodeInfo, Added> & Unsure<Added> {
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
