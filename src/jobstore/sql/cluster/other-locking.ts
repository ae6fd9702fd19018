import { JobPersistenceError } from '../../../core/errors.ts'
import type { JobStoreContext } from '../../job-store.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { failedAfterMs, lockingOf, type NodeLocking, type NodeRow } from '../tables/nodes/node-row.ts'
import { type Roll, readRoll } from '../tables/nodes/scheduler-state-table.ts'
import type { NodeNews } from './node-news.ts'
import type { NodeWatch } from './node-watch.ts'
import { mixedLocking } from './registration.ts'

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

/** Reports, once for each start, a node that is at work and whose way of locking does not exclude this node's. */
export function warnOfOtherLocking(
  { rows, nowMs }: Roll,
  own: { readonly instanceId: string; readonly locking: NodeLocking },
  {
    news,
    signaler,
    watch,
  }: Pick<JobStoreContext, 'signaler'> & { readonly news: NodeNews; readonly watch: NodeWatch },
): void {
  for (const row of rows) {
    const other = lockingOf(row)
    if (row.instanceId === own.instanceId || other === null || other === own.locking) continue
    const isSeen = row.bootId === null ? watch.hasMoved(row.instanceId) : true
    if (!isSeen || watch.state(row, nowMs) === 'failed') continue
    if (!news.isNews(row, 'locking')) continue
    const error =
      own.locking === 'skipLocked'
        ? mixedLocking(own.instanceId, row)
        : mixedLocking(row.instanceId, { instanceId: own.instanceId, bootId: '' })
    signaler.storeError('Nodes with different locking use the same tables.', error)
  }
}
