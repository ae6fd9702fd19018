import type { JobKey } from '../../../core/key.ts'
import type { ShardedItem } from '../../job-store-shards.ts'
import type { SqlProgram } from '../kernel/statement.ts'
import { lockJobs } from '../programs/steps/new-triggers.ts'
import { endLostItems, loadOpenFirings, writeOpenFirings } from '../programs/steps/split-firings.ts'
import type { SqlSession, SqlTransaction } from '../session/sql-session.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import { readRoll } from '../tables/nodes/scheduler-state-table.ts'

/** Of how many jobs one transaction settles the items, so that it stays short. */
const jobsAtOnce = 200

/** Settles the lost items of all jobs, in as many transactions as they need, for as long as that is wanted. */
export async function settleAllLostItems(
  transactor: SqlTransactor,
  isWanted: () => boolean = () => true,
): Promise<void> {
  // There is nearly always nothing to settle, and recoveries wait for each other.
  if ((await transactor.read(({ splitFirings }) => splitFirings.jobs(null, 1))).length === 0) return
  const settle = (after: JobKey | null): Promise<JobKey | null> =>
    transactor.run((tx) => settleLostItems(tx, after), { lock: 'cluster' })
  for (let after = await settle(null); after !== null && isWanted(); ) after = await settle(after)
}

/**
 * Ends items of sharded firings that no node will run, and gives up firings of jobs that somebody else deleted. Firings
 * of the same job do so too, so this is for jobs that do not fire again. Looks at some jobs in the order of their keys;
 * answers behind which one to go on, or null when none is left.
 */
export function* settleLostItems(tx: SqlTransaction, after: JobKey | null = null): SqlProgram<JobKey | null> {
  const { session } = tx
  const { splitFirings } = session
  const keys = yield* splitFirings.jobs(after, jobsAtOnce)
  if (keys.length === 0) return null
  const jobs = yield* lockJobs(tx, keys)
  const open = yield* loadOpenFirings(tx, keys)
  const given = keys.filter((key) => !jobs.has(key))
  yield* splitFirings.forgetDeleted(given)
  for (const key of given) open.delete(key)
  yield* endLostItems(tx, open.values(), yield* registeredNodes(tx))
  yield* writeOpenFirings(tx, open, { jobs })
  yield* offerItemsOfGone(tx, keys)
  return placeAfter(keys)
}

/** Whether items of broadcasts have not ended whose nodes are gone. */
export function* hasItemsOfGone(session: SqlSession): SqlProgram<boolean> {
  const { splitFirings, context } = session
  for (let after: JobKey | null = null; ; ) {
    const keys: readonly JobKey[] = yield* splitFirings.jobs(after, jobsAtOnce)
    if (keys.length === 0) return false
    const { found } = yield* splitFirings.load(keys)
    const nodes = (yield* registeredNodes({ session, nowMs: context.clock.now() })) ?? []
    const isLeft = ({ state, owner }: ShardedItem): boolean => state !== 'ended' && !nodes.includes(owner)
    const firings = found.values().flat()
    if (firings.some(({ isBroadcast, items }) => isBroadcast && items.some(isLeft))) return true
    after = placeAfter(keys)
    if (after === null) return false
  }
}

/** Offers the items of all jobs whose owners are gone. */
export function* offerAllItemsOfGone(tx: SqlTransaction): SqlProgram<void> {
  const { splitFirings } = tx.session
  for (let after: JobKey | null = null; ; ) {
    const keys: readonly JobKey[] = yield* splitFirings.jobs(after, jobsAtOnce)
    yield* offerItemsOfGone(tx, keys)
    after = placeAfter(keys)
    if (after === null) return
  }
}

function placeAfter(keys: readonly JobKey[]): JobKey | null {
  return keys.length < jobsAtOnce ? null : (keys.at(-1) ?? null)
}

/**
 * Notes that items whose owners are gone may run on other nodes: these do not look at triggers again that they have
 * just left to another node.
 */
function* offerItemsOfGone(tx: SqlTransaction, keys: readonly JobKey[]): SqlProgram<void> {
  if (keys.length === 0) return
  const { found } = yield* tx.session.splitFirings.load(keys)
  const nodes = (yield* registeredNodes(tx)) ?? []
  for (const { isBroadcast, items, fireTimeMs } of found.values().flat()) {
    const isOffered = ({ triggerKey, owner }: ShardedItem): boolean =>
      triggerKey !== null && !nodes.includes(owner)
    if (!isBroadcast && items.some(isOffered)) tx.offers.note(fireTimeMs)
  }
}

function* registeredNodes({
  session,
  nowMs,
}: Pick<SqlTransaction, 'session' | 'nowMs'>): SqlProgram<readonly string[] | null> {
  if (!session.clustered) return null
  const { rows } = readRoll((yield session.nodes.load(nowMs)).rows)
  return rows.filter(({ isOrphan }) => !isOrphan).map(({ instanceId }) => instanceId)
}
