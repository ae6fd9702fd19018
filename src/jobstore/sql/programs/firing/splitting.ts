import { type JobKey, shardedJobsGroup } from '../../../../core/key.ts'
import type { KeyMap } from '../../../../core/key-map.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { firingPartOf } from '../../../firing-part.ts'
import { OpenFirings } from '../../../split-firing.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { LoadedSplitFirings } from '../../tables/firings/split-firing-table.ts'
import type { PausedGroups } from '../../tables/groups/paused-group-table.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import type { NodeRow } from '../../tables/nodes/node-row.ts'
import { readRoll } from '../../tables/nodes/scheduler-state-table.ts'
import { noteEndedOfGroups } from '../steps/ended-claims.ts'
import { newFiredRow } from '../steps/firings.ts'
import { deleteFinishedJobs } from '../steps/orphans.ts'
import { uniqueKeys } from '../steps/settling.ts'
import { endLostItems, openFiringsOf, settleOpenFirings, writeSettled } from '../steps/split-firings.ts'

/** A claimed trigger of a sharded job. */
export interface SplitFire {
  /** As it was before. */
  readonly trigger: Trigger
  readonly fired: Trigger
  readonly jobDetail: JobDetail
  readonly row: FiredRow
}

/** An item that the slot of its firing's claim can run at once: a trigger that is stored as fired. */
export interface FirstItem {
  /** Of the claim. */
  readonly firingId: string
  /** As a search would have found it. */
  readonly trigger: Trigger
  readonly fired: Trigger
  readonly jobDetail: JobDetail
  /** The row that a claim on the trigger would have. */
  readonly row: FiredRow
}

/** What decides how firings are split, besides their triggers. */
export interface SplitCircumstances {
  /** Null where there is one scheduler only. */
  readonly nodes: Nodes | null
  readonly paused: PausedGroups
  readonly firings: LoadedSplitFirings
  readonly disabled: KeyMap<JobKey, readonly number[]>
}

/** Reads them, for jobs that a statement before these locks; null for no jobs. */
export function* splitCircumstances(
  tx: SqlTransaction,
  jobKeys: readonly JobKey[],
): SqlProgram<SplitCircumstances | null> {
  if (jobKeys.length === 0) return null
  const { pausedGroups, splitFirings: table } = tx.session
  const [nodes, paused, firings, disabled] = yield* together(
    lookAtNodes(tx),
    pausedGroups.load(),
    table.load(jobKeys),
    table.disabledItems(jobKeys),
  )
  return { nodes, paused, firings, disabled }
}

/**
 * Splits the firings of claims of locked jobs into items. The states of their triggers are written already. Answers the
 * items to begin with: all others wait for the next search.
 */
export function* splitFirings(
  tx: SqlTransaction,
  fires: readonly SplitFire[],
  jobs: KeyMap<JobKey, JobRef>,
  { nodes, paused, firings: loaded, disabled }: SplitCircumstances,
): SqlProgram<readonly FirstItem[]> {
  const { session, nowMs, offers } = tx
  const jobKeys = uniqueKeys(fires.map(({ jobDetail }) => jobDetail.key))
  const ids = fires.map(({ row }) => row.fireInstanceId)
  // The claims end: their firings are no executions.
  yield* session.firedTriggers.delete(ids, 'ACQUIRED')
  const open = yield* openFiringsOf(tx, jobKeys, loaded)
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
  noteEndedOfGroups(
    tx,
    fires.map(({ row }) => row),
  )
  const settled = settleOpenFirings(tx, open)
  const first = fires.flatMap((fire) => {
    return isHeldBack(tx, fire, paused) ? [] : firstItem(tx, fire, settled.carriers)
  })
  const begun = new Map(first.map(({ trigger, fired }) => [trigger, fired]))
  const carriers = settled.carriers.map((carrier) => begun.get(carrier) ?? carrier)
  yield* writeSettled(tx, { ...settled, carriers }, { jobs, paused })
  yield* deleteSpent(tx, fires, jobs)
  return first
}

/** Whether the items of a firing may have to wait, which the search finds out. */
function isHeldBack(
  { session: { groupLimits } }: SqlTransaction,
  { jobDetail: { key, disallowConcurrentExecution } }: SplitFire,
  { triggerGroups, jobGroups, everyNewTriggerGroup }: PausedGroups,
): boolean {
  const isPaused = everyNewTriggerGroup || triggerGroups.has(shardedJobsGroup) || jobGroups.has(key.group)
  return isPaused || disallowConcurrentExecution || groupLimits?.has(key.group) === true
}

/** None where this node has none of the items that may begin. */
function firstItem(
  tx: SqlTransaction,
  { row: { fireInstanceId: firingId }, jobDetail }: SplitFire,
  carriers: readonly Trigger[],
): FirstItem[] {
  const { instanceId } = tx.session.context
  const trigger = carriers.find(({ jobDataMap }) => {
    const part = firingPartOf(jobDataMap)
    return part?.firingId === firingId && part.nodes?.names.includes(instanceId) === true
  })
  if (trigger === undefined) return []
  const { key: jobKey, requestsRecovery } = jobDetail
  const row = newFiredRow(tx, trigger, { jobKey, nonConcurrent: false, requestsRecovery }, 'ACQUIRED')
  return [{ firingId, trigger, fired: trigger.triggered(null), jobDetail, row }]
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

/**
 * The nodes that are to run a job: those that know its type, as its affinity says; this one when there is none. A node
 * that fires nothing gets no item: no other node takes over one of a broadcast, and other items would wait for the turn
 * of their owner to end.
 */
function nodesFor(
  { jobType, nodeAffinity }: JobDetail,
  nodes: readonly NodeRow[],
  self: string,
): readonly string[] {
  const able = nodes
    .filter(({ info }) => info?.jobTypes.includes(jobType) === true)
    .filter(({ info, instanceId }) => instanceId === self || !standsBy(info))
    .map(({ instanceId }) => instanceId)
  const named = able.filter((node) => nodeAffinity?.names.includes(node) === true)
  const meant = nodeAffinity === null || (named.length === 0 && !nodeAffinity.required) ? able : named
  return meant.length === 0 ? [self] : meant
}

function standsBy(info: NodeRow['info']): boolean {
  return info?.status === 'standby' || info?.status === 'draining'
}
