import { createHash } from 'node:crypto'
import type { SqlStatement } from '../kernel/statement.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'

/**
 * A witness is something that the database holds for as long as the session of a node's check-ins lives: when it is
 * gone, the session has ended, and most often its process too. A node names its witness in its row.
 */

/** A node that lives needs a few milliseconds to connect again and to check in; the rest is for busy machines. */
const shortestGraceMs = 1000

/**
 * For how long a node whose witness is gone must be silent before it has failed: a part of the silence that is needed
 * otherwise, so that an option for more of that gives more of this.
 */
export function witnessGraceMs(failedAfterMs: number): number {
  return Math.max(shortestGraceMs, failedAfterMs / 6)
}

/** How often a node proves its own session and looks at the witnesses of others. */
export const witnessLookMs = 400

/** How often it looks while one is gone, so that the grace ends on time. */
export const suspectLookMs = 50

/**
 * A node that needs longer than this to connect might not be back within the grace, so it has no witness. Milliseconds.
 */
export const witnessConnectMs: number = shortestGraceMs / 2

/**
 * Nor has a node whose check-in took longer than this: one after the end of its session might come too late, and no
 * proof would be as recent as its claims need it. Milliseconds.
 */
export function witnessCheckInMs({ graceMs }: Pick<WitnessOrders, 'graceMs'>): number {
  return graceMs / 2
}

/** A session that was slow may have met a busy moment: after this time another one is tried. Milliseconds. */
export const slowSessionMs = 30_000

/** So many nodes look at one witness, whatever the size of the cluster. */
const lookersEach = 4

export interface WitnessOrders {
  readonly key: number
  /** For how long this node may be silent after the end of its session. Milliseconds. */
  readonly graceMs: number
  /** As the check-in without a witness, and names this one. */
  readonly checkIn: SqlStatement
  /** The witnesses of others that this node looks at. */
  readonly watched: readonly number[]
}

/** A look at witnesses in the session that holds the looker's own: proof that this session lives. */
export interface WitnessLook {
  /** When it was sent, on the clock's monotonic time. */
  readonly sentMs: number
  /** On the database's time. */
  readonly nowMs: number
  /** Witnesses that this very session has seen held, and that are gone. */
  readonly lost: readonly number[]
}

/** Of 32 bits with a sign. Two nodes may have the same: then one of them has no witness. */
export function witnessKey(bootId: string): number {
  return createHash('sha256').update(bootId).digest().readInt32BE()
}

/** Whether there is a node that could look at a witness. */
export function hasLookers(instanceId: string, rows: readonly NodeRow[]): boolean {
  return rows.some((row) => row.instanceId !== instanceId && row.bootId !== null && !row.isOrphan)
}

/** The witnesses that a node looks at: those of the nodes that follow it in the ring of all instance ids. */
export function watchedWitnesses(instanceId: string, rows: readonly NodeRow[]): readonly number[] {
  const ring = rows
    .filter((row) => row.instanceId !== instanceId && !row.isOrphan)
    .toSorted((a, b) => (a.instanceId < b.instanceId ? -1 : 1))
  const next = ring.findIndex((row) => row.instanceId > instanceId)
  const from = next === -1 ? 0 : next
  return [...ring.slice(from), ...ring.slice(0, from)]
    .flatMap(({ info }) => info?.witness?.key ?? [])
    .slice(0, lookersEach)
}
