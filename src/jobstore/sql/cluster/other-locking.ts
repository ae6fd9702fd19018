import { JobPersistenceError } from '../../../core/errors.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { failedAfterMs, lockingOf, type NodeRow } from '../tables/nodes/node-row.ts'
import { readRoll } from '../tables/nodes/scheduler-state-table.ts'

/** How far the clock of a Java node may be off, which writes its own time. */
const clockSlackMs = 15_000

/**
 * Refuses a change by a scheduler that takes no part in the cluster while a node is at work that does not see its
 * locks. A node itself is refused when it registers.
 *
 * @throws JobPersistenceError ERR_MIXED_LOCKING
 */
export function* requireSameLocking(tx: SqlTransaction): SqlProgram<void> {
  const { rows, nowMs } = readRoll((yield tx.session.nodes.loadRegistered(tx.nowMs)).rows)
  const leftMs = (row: NodeRow): number => {
    const slackMs = row.bootId === null ? clockSlackMs : 0
    return failedAfterMs(row, 0) + slackMs - Math.abs(nowMs - row.lastCheckInTimeMs)
  }
  const other = rows.find((row) => lockingOf(row) === 'quartzLocks' && leftMs(row) > 0)
  if (other === undefined) return
  const { bootId, instanceId, lastCheckInTimeMs } = other
  const who = bootId === null ? 'a node of Java Quartz' : `a node with locking: 'quartzLocks'`
  throw new JobPersistenceError(
    `Nothing was changed: '${instanceId}', ${who}, is at work on these tables (last heard of at ` +
      `${new Date(lastCheckInTimeMs).toISOString()}), and this store locks with 'skipLocked', which that node does ` +
      "not see. Open the store with locking: 'quartzLocks', which also refuses what Java cannot read; for the " +
      'command line, --config quartz.properties names the settings of the Java nodes. Or stop that node: the row ' +
      `that Java leaves behind counts for ${Math.ceil(leftMs(other) / 1000)} s more.`,
    { code: 'ERR_MIXED_LOCKING' },
  )
}
