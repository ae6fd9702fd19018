import { JobPersistenceError } from '../../../core/errors.ts'
import { run, type SqlProgram } from '../kernel/statement.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { lockingOf, type NodeRow } from '../tables/nodes/node-row.ts'
import {
  type OwnRow,
  type Roll,
  readRoll,
  type SchedulerStateTable,
} from '../tables/nodes/scheduler-state-table.ts'
import type { NodeWatch } from './node-watch.ts'
import { recoverInstance } from './recovery.ts'

/** What a look at the cluster says about taking part in it. */
export type Admission =
  | { readonly kind: 'free'; readonly predecessor: NodeRow | null }
  /** It is not clear yet whether a node is alive that stands in the way. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'refused'; readonly error: JobPersistenceError }

/**
 * Decides whether a node may take part. A node of the same instance id, or one whose locking does not go together with
 * ours, is in the way when it is alive, and no longer when it is not: which of the two must be seen, not guessed.
 */
export function admission(own: OwnRow, { rows, nowMs }: Roll, watch: NodeWatch): Admission {
  const isDead = (row: NodeRow): boolean => watch.state(row, nowMs) === 'failed'
  const isAlive = (row: NodeRow): boolean => watch.hasMoved(row.instanceId) && !isDead(row)
  const namesake = rows.find(
    ({ instanceId, bootId, isOrphan }) => instanceId === own.instanceId && bootId !== own.bootId && !isOrphan,
  )
  const strangers = rows.filter((row) => row !== namesake && isStranger(own, row) && !isDead(row))
  const stranger = strangers.find(isAlive)
  if (stranger !== undefined) return { kind: 'refused', error: mixedLocking(own.instanceId, stranger) }
  if (namesake !== undefined && isAlive(namesake)) {
    return { kind: 'refused', error: duplicateInstanceId(namesake) }
  }
  if (strangers.length > 0 || (namesake !== undefined && !isDead(namesake))) return { kind: 'wait' }
  return { kind: 'free', predecessor: namesake ?? null }
}

/** Nodes that lock nothing in common would claim the same trigger twice: the one that knows better refuses. */
function isStranger(own: OwnRow, row: NodeRow): boolean {
  return own.info.locking === 'skipLocked' && lockingOf(row) === 'quartzLocks'
}

export function mixedLocking(skipLockedId: string, other: NodeRow): JobPersistenceError {
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
 * Enters a node into the cluster, in the place of a predecessor that is as it was seen; false when somebody was
 * faster. At its start a node has nothing in flight, so what its id is named in is of a predecessor and is recovered;
 * a node that takes part anew keeps what it began since it was recovered.
 */
export function* register(
  tx: SqlTransaction,
  table: SchedulerStateTable,
  own: OwnRow,
  { predecessor, isStart }: { readonly predecessor: NodeRow | null; readonly isStart: boolean },
): SqlProgram<boolean> {
  if (predecessor !== null) yield* run(table.deleteAsSeen(predecessor))
  if ((yield* run(table.insert(own, tx.nowMs))) === 0) {
    // A commit that was not known to have happened is tried again.
    const { rows } = readRoll((yield table.load(tx.nowMs)).rows)
    return rows.some(({ bootId }) => bootId === own.bootId)
  }
  if (isStart || predecessor !== null) yield* recoverInstance(tx, own.instanceId)
  return true
}
