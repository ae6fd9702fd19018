import { nodeAlive, nodeNotFound } from '../../refusals.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'
import type { Roll } from '../tables/nodes/scheduler-state-table.ts'
import { settleAllLostItems } from './lost-items.ts'
import { recoverNode } from './recovery.ts'

export interface RemovalParts {
  readonly transactor: SqlTransactor
  readonly look: () => Promise<Roll>
  /** Whether a node checks in, by the rule of recovery. */
  readonly isAlive: (row: NodeRow, nowMs: Roll['nowMs']) => boolean
}

/**
 * Recovers a node that has missed check-ins, before it has failed. As in any recovery its row is deleted as it was
 * seen, so a node that checks in meanwhile stays; one that lives and comes later learns that it was recovered.
 *
 * @throws SchedulerError ERR_NOT_FOUND, ERR_NODE_ALIVE
 */
export async function removeNode(
  { transactor, look, isAlive }: RemovalParts,
  instanceId: string,
): Promise<void> {
  const find = ({ rows }: Roll): NodeRow | undefined =>
    rows.find((row) => row.instanceId === instanceId && !row.isOrphan)
  const roll = await look()
  const row = find(roll)
  if (row === undefined) throw nodeNotFound(instanceId)
  if (isAlive(row, roll.nowMs)) throw nodeAlive(instanceId)
  const isRecovered = await transactor.run((tx) => recoverNode(tx, row), { lock: 'cluster', isChange: true })
  // A peer may have recovered it first, which is as good.
  if (!isRecovered && find(await look()) !== undefined) throw nodeAlive(instanceId)
  await settleAllLostItems(transactor)
}
