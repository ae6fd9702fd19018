import { emptyJobDataMap } from '../../../core/job-data-map.ts'
import type { JobKey, TriggerKey } from '../../../core/key.ts'
import { KeyMap } from '../../../core/key-map.ts'
import { KeySet } from '../../../core/key-set.ts'
import { textOf } from '../../../core/thrown-value.ts'
import type { EpochMs } from '../../../time/clock.ts'
import type { Trigger } from '../../../triggers/trigger.ts'
import type { NodeRecovery } from '../../node-recovery.ts'
import type { ShardPlace } from '../../queries.ts'
import { recoveryTriggerFor } from '../../recovery-trigger.ts'
import { run, type SqlProgram } from '../kernel/statement.ts'
import { noteEndedOfGroups } from '../programs/steps/ended-claims.ts'
import { tellFaultyFirings } from '../programs/steps/faulty-triggers.ts'
import { recordLost } from '../programs/steps/history.ts'
import { storeNewTriggers } from '../programs/steps/new-triggers.ts'
import { deleteFinishedJobs } from '../programs/steps/orphans.ts'
import { type TriedLocks, tryLockJobs, tryLockTriggers } from '../programs/steps/passing-over.ts'
import { settleJobs, uniqueKeys } from '../programs/steps/settling.ts'
import { loadOpenFirings, writeOpenFirings } from '../programs/steps/split-firings.ts'
import type { SqlTransaction } from '../session/sql-session.ts'
import type { FiredRow } from '../tables/firings/fired-rows.ts'
import type { JobRef } from '../tables/jobs/job-table.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'
import { readRoll } from '../tables/nodes/scheduler-state-table.ts'
import type { DataOfTrigger } from '../tables/triggers/data-of-triggers.ts'
import type { TriggerRef } from '../tables/triggers/trigger-table.ts'
import type { DataCopy } from '../tables/triggers/triggers-of-java.ts'
import { settleLostItems } from './lost-items.ts'
import { freeStuckTriggers } from './stuck-triggers.ts'

/**
 * For a store that one node uses, before it fires: all claims and executions belong to an earlier run. No trigger stays
 * acquired or blocked.
 */
export function* recoverAtStart(tx: SqlTransaction): SqlProgram<void> {
  const { firedTriggers } = tx.session
  const rows = yield* firedTriggers.deleteAll()
  yield* firedTriggers.takeOver(yield* firedTriggers.allExecuting())
  const instances = new Set(rows.map(({ instanceId }) => instanceId))
  for (const instanceId of instances) {
    const own = rows.filter((row) => row.instanceId === instanceId)
    yield* recoverFirings(tx, instanceId, own, yield* lockAround(tx, own))
  }
  // Each look goes through all triggers, and there is nearly always nothing to find.
  const isStuck = yield* tx.session.keyLists.hasStuck()
  while (isStuck && (yield* freeStuckTriggers(tx)));
  for (let after = yield* settleLostItems(tx); after !== null; ) after = yield* settleLostItems(tx, after)
}

/**
 * Recovers a node that failed, unless its row has changed or a peer has recovered it. The row is deleted first: a node
 * that still lives and checks in meanwhile is either found alive here, or learns that it was recovered.
 */
export function* recoverNode(tx: SqlTransaction, node: NodeRow): SqlProgram<boolean> {
  const { nodes } = tx.session
  if (node.isOrphan) {
    const { rows } = readRoll((yield nodes.load(tx.nowMs)).rows)
    if (!rows.some((row) => row.isOrphan && row.instanceId === node.instanceId)) return false
  } else if ((yield* run(nodes.deleteAsSeen(node))) === 0) return false
  yield* recoverInstance(tx, node.instanceId)
  return true
}

/**
 * Recovers the firings of an instance that does not run any more, or the given ones of them. A firing whose row another
 * session has locked is left: it then belongs to no node, and the next look for such firings finds it. One that goes on
 * elsewhere is this node's from now on.
 */
export function* recoverInstance(
  tx: SqlTransaction,
  instanceId: string,
  isMeant: (fireInstanceId: string) => boolean = () => true,
): SqlProgram<void> {
  const { firedTriggers, awaitedResults } = tx.session
  const all = yield* firedTriggers.tryLockOfInstance(instanceId)
  const meant = all.filter(({ fireInstanceId }) => isMeant(fireInstanceId))
  const awaited = yield* awaitedResults.among(meant.map(({ fireInstanceId }) => fireInstanceId))
  yield* firedTriggers.takeOver(meant.filter(({ fireInstanceId }) => awaited.has(fireInstanceId)))
  const rows = meant.filter(({ fireInstanceId }) => !awaited.has(fireInstanceId))
  const locks = yield* lockAround(tx, rows)
  const free = rows.filter(({ jobKey, triggerKey }) => {
    return !locks.triggers.locked.has(triggerKey) && (jobKey === null || !locks.jobs.locked.has(jobKey))
  })
  yield* firedTriggers.deleteOfInstance(instanceId, free)
  yield* recoverFirings(tx, instanceId, free, locks)
}

interface LocksAround {
  readonly jobs: TriedLocks<JobKey, JobRef>
  readonly triggers: TriedLocks<TriggerKey, TriggerRef>
}

/** Locks the jobs and triggers of firings: jobs before triggers, as everywhere. */
function* lockAround(tx: SqlTransaction, rows: readonly FiredRow[]): SqlProgram<LocksAround> {
  const jobs = yield* tryLockJobs(tx, jobKeysOf(rows))
  const triggers = yield* tryLockTriggers(tx, triggerKeysOf(rows))
  return { jobs, triggers }
}

/** The locked rows that the recovery of firings depends on. */
interface Circumstances {
  readonly triggers: KeyMap<TriggerKey, TriggerRef>
  readonly jobs: KeyMap<JobKey, JobRef>
  /** Triggers that another node has claimed. */
  readonly claimed: KeySet<TriggerKey>
  /** The latest planned instant of a trigger's other claims and executions. */
  readonly inFlight: KeyMap<TriggerKey, EpochMs>
}

/** Settles firings whose rows were deleted because no node will end them. */
function* recoverFirings(
  tx: SqlTransaction,
  instanceId: string,
  rows: readonly FiredRow[],
  locks: LocksAround,
): SqlProgram<void> {
  const claims = rows.filter(({ state }) => state === 'ACQUIRED')
  const executions = rows.filter(({ state }) => state === 'EXECUTING')
  const found = yield* lookAround(tx, rows, locks)
  // Not whole triggers: of those of Java this node may not be able to read the schedule.
  const data = yield* tx.session.triggerData.load(triggerKeysOf(executions))
  const releasedClaims = yield* releaseClaims(tx, claims, found)
  tellFaultyFirings(tx, rows)
  const recoverable = executions.filter((row) => isRecoverable(row, found))
  const { recovered, failures } = yield* storeRecoveryTriggers(tx, instanceId, recoverable, {
    ...found,
    data,
  })
  const places = yield* recoverItems(tx, executions, { recovered, jobs: found.jobs })
  const lost = executions.filter(({ fireInstanceId }) => !recovered.has(fireInstanceId))
  for (const row of lost) {
    const { fireInstanceId, jobKey, triggerKey, plannedTimeMs: scheduledFireTimeMs } = row
    tx.signals.add('executionLost', {
      fireInstanceId,
      node: instanceId,
      jobKey,
      triggerKey,
      scheduledFireTimeMs,
      reason: reasonOfLoss(row, found.jobs, failures.get(fireInstanceId)),
    })
  }
  yield* recordLost(tx, lost, {
    jobTypeOf: (key) => found.jobs.get(key)?.jobType ?? null,
    dataOf: (row) => dataOf(row, data)?.jobDataMap ?? emptyJobDataMap,
    shardOf: ({ fireInstanceId }) => places.get(fireInstanceId) ?? null,
  })
  yield* settleJobs(tx, jobKeysOf(rows))
  yield* deleteFinished(tx, executions, found)
  noteEndedOfGroups(tx, rows)
  const recovery: NodeRecovery = {
    node: instanceId,
    releasedClaims,
    recoveredExecutions: recovered.size,
    lostExecutions: lost.length,
  }
  if (rows.length > 0) tx.signals.add('nodeRecovered', recovery)
}

/** Reads the other claims and executions of triggers of firings whose rows were deleted. */
function* lookAround(
  tx: SqlTransaction,
  rows: readonly FiredRow[],
  locks: LocksAround,
): SqlProgram<Circumstances> {
  const claimed = new KeySet<TriggerKey>()
  const inFlight = new KeyMap<TriggerKey, EpochMs>()
  const others = yield* tx.session.firedTriggers.ofTriggers(triggerKeysOf(rows))
  for (const { triggerKey, state, plannedTimeMs } of others) {
    inFlight.set(triggerKey, Math.max(plannedTimeMs, inFlight.get(triggerKey) ?? plannedTimeMs))
    if (state === 'ACQUIRED') claimed.add(triggerKey)
  }
  return { triggers: locks.triggers.found, jobs: locks.jobs.found, claimed, inFlight }
}

/** Lets claimed triggers wait again; a claim of another node on the same trigger stays. */
function* releaseClaims(
  tx: SqlTransaction,
  claims: readonly FiredRow[],
  { triggers, claimed }: Circumstances,
): SqlProgram<number> {
  const released = new KeyMap<TriggerKey, TriggerRef>()
  for (const { triggerKey } of claims) {
    const ref = triggers.get(triggerKey)
    if (ref?.state === 'ACQUIRED' && !claimed.has(triggerKey)) released.set(triggerKey, ref)
  }
  yield* tx.session.triggers.setStates(released.keys().map((key) => ({ key, state: 'WAITING' })))
  for (const { nextFireTimeMs } of released.values()) tx.offers.note(nextFireTimeMs)
  // A claim keeps the other triggers of its job from being claimed, if that forbids concurrent execution.
  const kept = claims.filter(({ nonConcurrent }) => nonConcurrent)
  if (kept.length > 0) tx.offers.note(yield* tx.session.scopes.earliestOfJobs(jobKeysOf(kept)))
  return released.size
}

function isRecoverable({ requestsRecovery, jobKey }: FiredRow, { jobs }: Circumstances): boolean {
  return requestsRecovery && jobKey !== null && jobs.has(jobKey)
}

/** Items of sharded firings go on under their recovery triggers, or are lost. Answers which items executions ran. */
function* recoverItems(
  tx: SqlTransaction,
  executions: readonly FiredRow[],
  {
    recovered,
    jobs,
  }: { readonly recovered: ReadonlyMap<string, Trigger>; readonly jobs: KeyMap<JobKey, JobRef> },
): SqlProgram<ReadonlyMap<string, ShardPlace>> {
  const places = new Map<string, ShardPlace>()
  const known = jobKeysOf(executions).filter((key) => jobs.has(key))
  const open = yield* loadOpenFirings(tx, known)
  for (const { fireInstanceId, jobKey, triggerKey } of executions) {
    const firings = jobKey === null ? undefined : open.get(jobKey)
    const recovery = recovered.get(fireInstanceId)
    const place = firings?.placeOf(triggerKey) ?? null
    if (place !== null) places.set(fireInstanceId, place)
    if (recovery === undefined) firings?.end(triggerKey, 'lost', null)
    else firings?.move(triggerKey, recovery.key)
  }
  yield* writeOpenFirings(tx, open, { jobs })
  return places
}

interface Recoveries {
  /** The triggers that run firings again. */
  readonly recovered: ReadonlyMap<string, Trigger>
  /** Why firings cannot be run again. */
  readonly failures: ReadonlyMap<string, unknown>
}

/**
 * Stores the triggers that run firings again. A firing whose data cannot be read or stored is reported and lost; but
 * data that Java serialized are copied as they are, for the Java nodes.
 */
function* storeRecoveryTriggers(
  tx: SqlTransaction,
  instanceId: string,
  executions: readonly FiredRow[],
  { jobs, data }: Circumstances & { readonly data: KeyMap<TriggerKey, DataOfTrigger> },
): SqlProgram<Recoveries> {
  const { triggers, triggersOfJava, context } = tx.session
  const recovered = new Map<string, Trigger>()
  const failures = new Map<string, unknown>()
  const copies: DataCopy[] = []
  for (const row of executions) {
    const given = dataOf(row, data)
    const isForJava = triggersOfJava !== null && given?.isSerializedByJava === true
    try {
      if (given?.fault !== undefined && !isForJava) throw given.fault
      const trigger = recoveryTriggerFor(
        { ...row, instanceId },
        given?.jobDataMap ?? emptyJobDataMap,
        context,
      )
      triggers.requireStorable(trigger)
      recovered.set(row.fireInstanceId, trigger)
      if (isForJava) copies.push({ from: row.triggerKey, to: trigger.key })
    } catch (error) {
      failures.set(row.fireInstanceId, error)
      const message = `The firing '${row.fireInstanceId}' cannot be run again: it is lost.`
      tx.signals.add('storeError', message, error)
    }
  }
  yield* storeNewTriggers(tx, [...recovered.values()], { existing: new KeyMap(), jobs })
  if (triggersOfJava !== null) yield* triggersOfJava.copyData(copies)
  return { recovered, failures }
}

/** The data of the trigger of a firing. Its key may belong to a trigger of another job by now. */
function dataOf(
  { triggerKey, jobKey }: FiredRow,
  data: KeyMap<TriggerKey, DataOfTrigger>,
): DataOfTrigger | undefined {
  const found = data.get(triggerKey)
  return jobKey !== null && found?.jobKey.equals(jobKey) === true ? found : undefined
}

/** Why a firing is not run again: a clause. */
function reasonOfLoss({ jobKey, fault }: FiredRow, jobs: KeyMap<JobKey, JobRef>, failure: unknown): string {
  if (failure !== undefined) return `its recovery could not be stored: ${textOf(failure).replace(/\.$/, '')}`
  if (fault !== undefined) return 'its row could not be read'
  const job = jobKey === null ? undefined : jobs.get(jobKey)
  if (job === undefined) return 'its job is gone'
  return job.requestsRecovery
    ? 'its job was replaced, or did not request recovery when it began'
    : 'its job does not request recovery'
}

/**
 * Deletes triggers that have no execution and no fire time left, with jobs that no trigger will run any more. An
 * execution that is still in flight leaves the trigger alone when it ends.
 */
function* deleteFinished(
  tx: SqlTransaction,
  executions: readonly FiredRow[],
  { triggers, inFlight }: Circumstances,
): SqlProgram<void> {
  const finished = new KeyMap<TriggerKey, TriggerRef>()
  for (const { triggerKey, jobKey, plannedTimeMs } of executions) {
    const ref = triggers.get(triggerKey)
    const isOfJob = jobKey !== null && ref?.jobKey.equals(jobKey) === true
    const isLast = plannedTimeMs > (inFlight.get(triggerKey) ?? Number.NEGATIVE_INFINITY)
    if (isOfJob && ref.state === 'COMPLETE' && isLast) finished.set(triggerKey, ref)
  }
  if (finished.size === 0) return
  yield* tx.session.triggers.delete(finished.values())
  const jobKeys = uniqueKeys(finished.values().map(({ jobKey }) => jobKey))
  yield* deleteFinishedJobs(tx, yield* tx.session.jobs.lock(jobKeys))
}

function jobKeysOf(rows: readonly FiredRow[]): readonly JobKey[] {
  return uniqueKeys(rows.flatMap(({ jobKey }) => jobKey ?? []))
}

function triggerKeysOf(rows: readonly FiredRow[]): readonly TriggerKey[] {
  return new KeySet(rows.map(({ triggerKey }) => triggerKey)).keys()
}
