import { JobPersistenceError } from '../../../core/errors.ts'
import { run, type SqlProgram } from '../kernel/statement.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { lockingOf, type NodeRow } from '../tables/nodes/node-row.ts'
import { type OwnRow, type Roll, readRoll } from '../tables/nodes/scheduler-state-table.ts'
import type { NodeWatch } from './node-watch.ts'
import { recoverInstance } from './recovery.ts'

/** Whether a node may register, by a look at the cluster. */
export type Admission =
  | { readonly kind: 'free'; readonly predecessor: NodeRow | null }
  /** It is not clear yet whether a node is alive that stands in the way. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'refused'; readonly error: JobPersistenceError }

/**
 * Decides whether a node may register. It is refused while a node of the same instance id, or a node with another way
 * of locking, is alive. It waits until it has seen whether such a node is alive.
 */
export function admission(own: OwnRow, { rows, nowMs }: Roll, watch: NodeWatch): Admission {
  const isDead = (row: NodeRow): boolean => watch.state(row, nowMs) === 'failed'
  const isAlive = (row: NodeRow): boolean => watch.hasMoved(row.instanceId) && !isDead(row)
  const namesake = rows.find(
    ({ instanceId, bootId, isOrphan }) => instanceId === own.instanceId && bootId !== own.bootId && !isOrphan,
  )
  const lockingDifferently = rows.filter(
    (row) => row !== namesake && locksDifferently(own, row) && !isDead(row),
  )
  const incompatible = lockingDifferently.find(isAlive)
  if (incompatible !== undefined)
    return { kind: 'refused', error: mixedLocking(own.instanceId, incompatible) }
  if (namesake !== undefined && isAlive(namesake)) {
    return { kind: 'refused', error: duplicateInstanceId(namesake) }
  }
  if (lockingDifferently.length > 0 || (namesake !== undefined && !isDead(namesake))) return { kind: 'wait' }
  return { kind: 'free', predecessor: namesake ?? null }
}

/** Nodes with different locking could claim the same trigger twice: the later one refuses to start. */
function locksDifferently(own: OwnRow, row: NodeRow): boolean {
  return own.info.locking === 'skipLocked' && lockingOf(row) === 'quartzLocks'
}

/** A node without a boot id is one of Java. */
export function mixedLocking(
  skipLockedId: string,
  other: Pick<NodeRow, 'instanceId' | 'bootId'>,
): JobPersistenceError {
  const who = other.bootId === null ? 'a node of Java Quartz' : `which locks with 'quartzLocks'`
  return new JobPersistenceError(
    `Node '${skipLockedId}' locks with 'skipLocked', and '${other.instanceId}', ${who}, is at work on the same ` +
      `tables and does not see those locks. Give all nodes locking: 'quartzLocks', or stop the other one first.`,
    { code: 'ERR_MIXED_LOCKING' },
  )
}

function duplicateInstanceId({ instanceId, info }: NodeRow): JobPersistenceError {
  const where = info === null ? '' : ` (process ${String(info.pid)} on ${info.host})`
  return new JobPersistenceError(
    `Another scheduler with the instance id '${instanceId}' is at work on the same tables${where}. ` +
      'Give each node of the cluster its own instanceId.',
    { code: 'ERR_DUPLICATE_INSTANCE_ID' },
  )
}

/**
 * Registers a node in the cluster, in place of a predecessor whose row has not changed; false when another node was
 * faster. At its start a node has nothing in flight, so firings with its instance id are a predecessor's and are
 * recovered. A node that registers anew keeps the firings that it began after it was recovered.
 */
export function* register(
  tx: SqlTransaction,
  own: OwnRow,
  { predecessor, isStart }: { readonly predecessor: NodeRow | null; readonly isStart: boolean },
): SqlProgram<boolean> {
  const { nodes } = tx.session
  if (predecessor !== null) yield* run(nodes.deleteAsSeen(predecessor))
  if ((yield* run(nodes.insert(own, tx.nowMs))) === 0) {
    // The transaction may be tried again after a commit whose answer was lost.
    const { rows } = readRoll((yield nodes.load(tx.nowMs)).rows)
    return rows.some(({ bootId }) => bootId === own.bootId)
  }
  if (isStart || predecessor !== null) yield* recoverInstance(tx, own.instanceId)
  return true
}
