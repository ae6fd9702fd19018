import type { SqlProgram } from '../kernel/statement.ts'
import { lockJobs } from '../programs/steps/new-triggers.ts'
import { endLostItems, loadOpenFirings, writeOpenFirings } from '../programs/steps/split-firings.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import { readRoll } from '../tables/nodes/scheduler-state-table.ts'

/** Most jobs that one look for lost items reads. */
const jobsAtOnce = 200

/**
 * Ends items of sharded firings that no node will run, and gives up firings of jobs that were deleted. Firings of the
 * same job do so too, so this is for jobs that do not fire again.
 */
export function* settleLostItems(tx: SqlTransaction): SqlProgram<void> {
  const { session } = tx
  const { splitFirings } = session
  const keys = yield* splitFirings.jobs(jobsAtOnce)
  if (keys.length === 0) return
  const jobs = yield* lockJobs(tx, keys)
  const open = yield* loadOpenFirings(tx, keys)
  const given = keys.filter((key) => !jobs.has(key))
  yield* splitFirings.delete(
    given.flatMap((key) => open.get(key)?.all.map(({ fireInstanceId }) => fireInstanceId) ?? []),
  )
  for (const key of given) open.delete(key)
  yield* endLostItems(tx, open.values(), yield* registeredNodes(tx))
  yield* writeOpenFirings(tx, open, jobs)
}

function* registeredNodes({ session, nowMs }: SqlTransaction): SqlProgram<readonly string[] | null> {
  if (!session.clustered) return null
  const { rows } = readRoll((yield session.nodes.load(nowMs)).rows)
  return rows.filter(({ isOrphan }) => !isOrphan).map(({ instanceId }) => instanceId)
}
