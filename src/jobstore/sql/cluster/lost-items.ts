import type { ShardedItem } from '../../job-store-shards.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import { lockJobs } from '../programs/steps/new-triggers.ts'
import { endLostItems, loadOpenFirings, writeOpenFirings } from '../programs/steps/split-firings.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { readRoll } from '../tables/nodes/scheduler-state-table.ts'

/** Most jobs that one look for lost items reads. */
const jobsAtOnce = 200

/**
 * Ends items of sharded firings that no node will run, and gives up firings of jobs that somebody else deleted. Firings
 * of the same job do so too, so this is for jobs that do not fire again.
 */
export function* settleLostItems(tx: SqlTransaction): SqlProgram<void> {
  const { session } = tx
  const { splitFirings } = session
  const keys = yield* splitFirings.jobs(jobsAtOnce)
  if (keys.length === 0) return
  const jobs = yield* lockJobs(tx, keys)
  const open = yield* loadOpenFirings(tx, keys)
  const given = keys.filter((key) => !jobs.has(key))
  yield* splitFirings.forgetDeleted(given)
  for (const key of given) open.delete(key)
  yield* endLostItems(tx, open.values(), yield* registeredNodes(tx))
  yield* writeOpenFirings(tx, open, { jobs })
  yield* offerItemsOfGone(tx)
}

/**
 * Notes that items whose owners are gone may run on other nodes: these do not look at triggers again that they have
 * just left to another node.
 */
export function* offerItemsOfGone(tx: SqlTransaction): SqlProgram<void> {
  const { splitFirings } = tx.session
  const keys = yield* splitFirings.jobs(jobsAtOnce)
  if (keys.length === 0) return
  const { found } = yield* splitFirings.load(keys)
  const nodes = (yield* registeredNodes(tx)) ?? []
  for (const { isBroadcast, items, fireTimeMs } of found.values().flat()) {
    const isOffered = ({ triggerKey, owner }: ShardedItem): boolean =>
      triggerKey !== null && !nodes.includes(owner)
    if (!isBroadcast && items.some(isOffered)) tx.offers.note(fireTimeMs)
  }
}

function* registeredNodes({ session, nowMs }: SqlTransaction): SqlProgram<readonly string[] | null> {
  if (!session.clustered) return null
  const { rows } = readRoll((yield session.nodes.load(nowMs)).rows)
  return rows.filter(({ isOrphan }) => !isOrphan).map(({ instanceId }) => instanceId)
}
