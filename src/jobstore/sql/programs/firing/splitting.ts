import type { JobKey } from '../../../../core/key.ts'
import type { KeyMap } from '../../../../core/key-map.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { OpenFirings } from '../../../split-firing.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import type { NodeRow } from '../../tables/nodes/node-row.ts'
import { readRoll } from '../../tables/nodes/scheduler-state-table.ts'
import { noteEndedOfGroups } from '../steps/ended-claims.ts'
import { deleteFinishedJobs } from '../steps/orphans.ts'
import { uniqueKeys } from '../steps/settling.ts'
import { endLostItems, loadOpenFirings, writeOpenFirings } from '../steps/split-firings.ts'

/** A claimed trigger of a sharded job. */
export interface SplitFire {
  /** As it was before. */
  readonly trigger: Trigger
  readonly fired: Trigger
  readonly jobDetail: JobDetail
  readonly row: FiredRow
}

/** Splits the firings of claims of locked jobs into items. The states of their triggers are written already. */
export function* splitFirings(
  tx: SqlTransaction,
  fires: readonly SplitFire[],
  jobs: KeyMap<JobKey, JobRef>,
): SqlProgram<void> {
  if (fires.length === 0) return
  const { session, nowMs, offers } = tx
  const jobKeys = uniqueKeys(fires.map(({ jobDetail }) => jobDetail.key))
  const ids = fires.map(({ row }) => row.fireInstanceId)
  // In one round trip, because the items wait for it. The claims end: their firings are no executions.
  const [[nodes, paused], [open, [disabled]]] = yield* together(
    together(lookAtNodes(tx), session.pausedGroups.load()),
    together(
      loadOpenFirings(tx, jobKeys),
      together(session.splitFirings.disabledItems(jobKeys), session.firedTriggers.delete(ids, 'ACQUIRED')),
    ),
  )
  yield* endLostItems(tx, open.values(), nodes?.registered ?? null)
  for (const { trigger, fired, jobDetail, row } of fires) {
    const firings = open.get(jobDetail.key) ?? new OpenFirings([])
    open.set(jobDetail.key, firings)
    firings.add({
      jobDetail,
      trigger,
      fireInstanceId: row.fireInstanceId,
      node: session.context.instanceId,
      nowMs,
      scheduledFireTimeMs: row.plannedTimeMs,
      nodes: nodesFor(jobDetail, nodes?.alive ?? [], session.context.instanceId),
      disabledItems: disabled.get(jobDetail.key) ?? [],
      remoteItems: session.context.remoteItems,
    })
    // The loop gets no bundle that would tell it.
    offers.note(fired.nextFireTimeMs)
  }
  yield* noteEndedOfGroups(
    tx,
    fires.map(({ row }) => row),
  )
  yield* writeOpenFirings(tx, open, { jobs, paused })
  yield* deleteSpent(tx, fires, jobs)
}

/** Deletes triggers that have fired for the last time: no end of an execution will. */
function* deleteSpent(
  tx: SqlTransaction,
  fires: readonly SplitFire[],
  jobs: KeyMap<JobKey, JobRef>,
): SqlProgram<void> {
  const { triggers } = tx.session
  const spent = fires.filter(({ fired }) => fired.nextFireTimeMs === null)
  if (spent.length === 0) return
  yield* triggers.delete(yield* triggers.lock(spent.map(({ trigger }) => trigger.key)))
  for (const { fired } of spent) tx.signals.add('triggerFinalized', fired)
  // Firings of which no item is to run leave a job without a trigger.
  yield* deleteFinishedJobs(
    tx,
    uniqueKeys(spent.map(({ jobDetail }) => jobDetail.key)).flatMap((key) => jobs.get(key) ?? []),
  )
}

interface Nodes {
  readonly registered: readonly string[]
  /** Those that recovery takes for alive. */
  readonly alive: readonly NodeRow[]
}

/** Null where there is one scheduler only. */
function* lookAtNodes({ session, nowMs: clockMs }: SqlTransaction): SqlProgram<Nodes | null> {
  if (!session.clustered) return null
  const { rows, nowMs } = readRoll((yield session.nodes.load(clockMs)).rows)
  const own = rows.filter(({ isOrphan }) => !isOrphan)
  return {
    registered: own.map(({ instanceId }) => instanceId),
    alive: own.filter((row) => session.nodeHealth.isAlive(row, nowMs)),
  }
}

/** The nodes that may run a job: those that know its type, as its affinity says; this one when there is none. */
function nodesFor(
  { jobType, nodeAffinity }: JobDetail,
  nodes: readonly NodeRow[],
  self: string,
): readonly string[] {
  const able = nodes
    .filter(({ info }) => info?.jobTypes.includes(jobType) === true)
    .map(({ instanceId }) => instanceId)
  const named = able.filter((node) => nodeAffinity?.names.includes(node) === true)
  const meant = nodeAffinity === undefined || (named.length === 0 && !nodeAffinity.required) ? able : named
  return meant.length === 0 ? [self] : meant
}
