import { JobPersistenceError } from '../../core/errors.ts'
import { plannedFireTimeMs } from '../../triggers/trigger.ts'
import type { AcquiredTrigger, AcquireRequest } from '../job-store.ts'
import { putInError } from './faulty-triggers.ts'
import { GroupRooms } from './group-rooms.ts'
import { KeyMap } from './key-map.ts'
import { isLate, treatMisfires } from './misfires.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'
import type { DueTrigger, StoredTrigger } from './trigger-table.ts'

/** How many late triggers one transaction moves out of the way, so that it stays short. */
const misfiresPerTransaction = 500
/** How often one search looks again after part of what it found could not be claimed. */
const roundsMax = 8

interface Search {
  readonly tx: SqlTransaction
  readonly acquired: AcquiredTrigger[]
  /** Late triggers whose instruction was carried out: one that is late still fires late. */
  readonly treated: KeyMap<DueTrigger['key'], true>
  /** Null where no group is limited. */
  readonly rooms: GroupRooms | null
}

/**
 * Claims triggers; null means that this transaction went by with late triggers and nothing is claimed yet.
 *
 * What is due now comes first. Only when that is nothing, the earliest trigger ahead is looked for, by itself: a row
 * that is locked and then not claimed would have been hidden from the other nodes for nothing.
 */
export function* acquireTriggers(
  tx: SqlTransaction,
  request: AcquireRequest,
): SqlProgram<readonly AcquiredTrigger[] | null> {
  const { session, nowMs } = tx
  const { noLaterThanMs, maxCount, timeWindowMs } = request
  for (const jobType of session.unknownJobTypes) {
    if (session.context.knowsJobType(jobType)) session.unknownJobTypes.delete(jobType)
  }
  yield* reportTriggersOfJava(tx, noLaterThanMs)
  const search: Search = {
    tx,
    acquired: [],
    treated: new KeyMap(),
    rooms: yield* lookAtRooms(tx, noLaterThanMs),
  }
  const { acquired } = search
  const dueMs = Math.min(noLaterThanMs, nowMs)
  const isWhole = yield* claimUntil(search, dueMs, maxCount)
  if (!isWhole) return acquired.length > 0 ? acquired : null
  if (acquired.length === 0 && noLaterThanMs > dueMs) yield* claimUntil(search, noLaterThanMs, 1)
  const firstMs = acquired[0]?.trigger.nextFireTimeMs ?? null
  if (firstMs === null) return acquired
  const batchEndMs = Math.max(firstMs, nowMs) + timeWindowMs
  if (batchEndMs > dueMs && acquired.length < maxCount) yield* claimUntil(search, batchEndMs, maxCount)
  return acquired
}

function* lookAtRooms(
  { session: { groupLimits }, nowMs }: SqlTransaction,
  untilMs: number,
): SqlProgram<GroupRooms | null> {
  if (groupLimits === null) return null
  groupLimits.lookAheadMs = Math.max(0, untilMs - nowMs)
  return yield* GroupRooms.look(groupLimits)
}

/** Says which triggers only Java nodes will run, once for each. */
function* reportTriggersOfJava(
  { session, signals, nowMs }: SqlTransaction,
  untilMs: number,
): SqlProgram<void> {
  if (session.triggersOfJava === null) return
  for (const { key, reason } of yield* session.triggersOfJava.newlyDue(nowMs, untilMs)) {
    const message = `Trigger '${key.toString()}' is left to Java nodes: ${reason}.`
    signals.storeError(message, new JobPersistenceError(message, { code: 'ERR_BROKEN_ROW' }))
  }
}

/** Claims what is due until an instant, up to `maxCount` in all; false when late triggers took up the transaction. */
function* claimUntil(search: Search, untilMs: number, maxCount: number): SqlProgram<boolean> {
  const { tx, acquired } = search
  const { session } = tx
  for (let round = 0; round < roundsMax && acquired.length < maxCount; round++) {
    const limit = maxCount - acquired.length
    const found = yield* lockKnown(search, untilMs, limit)
    if (found === null) continue
    if (found.some((due) => needsTreatment(search, due))) {
      const lateUntilMs = tx.nowMs - session.context.misfireThresholdMs
      const late = (yield* lockKnown(search, lateUntilMs, misfiresPerTransaction)) ?? []
      const untreated = late.filter((due) => needsTreatment(search, due))
      for (const { key } of untreated) search.treated.set(key, true)
      yield* treatMisfires(
        tx,
        untreated.map(({ key }) => key),
      )
      if (untreated.length === misfiresPerTransaction) return false
      continue
    }
    yield* claim(search, found)
    if (found.length < limit) break
  }
  return true
}

/**
 * Locks what is due; null when something turned up that this node must leave alone, so that the search is to leave it
 * out: a job type that is not known here, or, for the first time, a job that only some nodes are to run.
 */
function* lockKnown(
  search: Search,
  untilMs: number,
  limit: number,
): SqlProgram<readonly DueTrigger[] | null> {
  const { session } = search.tx
  const unknownJobTypes = [...session.unknownJobTypes]
  const { nodeAffinity } = session
  const node = nodeAffinity?.isUsed === true ? session.context.instanceId : null
  const found = yield* session.triggers.lockDue({
    untilMs,
    limit,
    unknownJobTypes,
    node,
    fullGroups: search.rooms?.fullGroups ?? [],
  })
  const strangers = found.filter(({ jobType }) => !session.context.knowsJobType(jobType))
  for (const { jobType } of strangers) session.unknownJobTypes.add(jobType)
  const isFirstForNodes =
    nodeAffinity?.isUsed === false && found.some(({ isForNodes }) => isForNodes === true)
  if (isFirstForNodes) nodeAffinity.isUsed = true
  return strangers.length === 0 && !isFirstForNodes ? found : null
}

function needsTreatment(search: Search, due: DueTrigger): boolean {
  return isLate(search.tx, due) && !search.treated.has(due.key)
}

function* claim(search: Search, found: readonly DueTrigger[]): SqlProgram<void> {
  const { tx, acquired } = search
  const { session, nowMs } = tx
  const free = yield* withoutBusyJobs(tx, found)
  if (free.length === 0) return
  const { found: stored, broken } = yield* session.triggers.load(free.map(({ key }) => key))
  yield* putInError(tx, broken)
  const candidates: { readonly due: DueTrigger; readonly stored: StoredTrigger }[] = []
  for (const due of free) {
    const entry = stored.get(due.key)
    if (entry !== undefined) candidates.push({ due, stored: entry })
  }
  const admitted = search.rooms === null ? candidates : yield* search.rooms.admit(candidates)
  const claims = admitted.map((candidate) => ({ ...candidate, id: session.nextFireInstanceId() }))
  if (claims.length === 0) return
  yield* session.triggers.setStates(claims.map(({ due: { key } }) => ({ key, state: 'ACQUIRED' })))
  yield* session.firedTriggers.insert(
    claims.map(({ due, stored: { trigger }, id }) => ({
      fireInstanceId: id,
      triggerKey: due.key,
      jobKey: due.jobKey,
      instanceId: session.context.instanceId,
      state: 'ACQUIRED',
      firedTimeMs: nowMs,
      plannedTimeMs: plannedFireTimeMs(trigger) ?? nowMs,
      priority: trigger.priority,
      nonConcurrent: due.nonConcurrent,
      requestsRecovery: due.requestsRecovery,
    })),
  )
  for (const { stored: entry, id } of claims) {
    acquired.push({ trigger: entry.trigger, fireInstanceId: id })
  }
}

/**
 * Leaves out triggers of non-concurrent jobs that may not start: one claim for each such job, and none while another
 * node holds one. The job's row is locked before the claims are looked at, so two nodes cannot both find none.
 */
function* withoutBusyJobs(
  tx: SqlTransaction,
  found: readonly DueTrigger[],
): SqlProgram<readonly DueTrigger[]> {
  const { jobs, firedTriggers } = tx.session
  const firstOfJob = new KeyMap<DueTrigger['jobKey'], DueTrigger>()
  for (const due of found) {
    if (due.nonConcurrent && !firstOfJob.has(due.jobKey)) firstOfJob.set(due.jobKey, due)
  }
  if (firstOfJob.size === 0) return found
  const locked = yield* jobs.tryLock(firstOfJob.keys())
  const free = new KeyMap<DueTrigger['jobKey'], true>()
  for (const { key } of locked) free.set(key, true)
  for (const key of yield* firedTriggers.busy(free.keys())) free.delete(key)
  return found.filter(
    (due) => !due.nonConcurrent || (free.has(due.jobKey) && firstOfJob.get(due.jobKey) === due),
  )
}
