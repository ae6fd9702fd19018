import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { firingPartOf } from '../../../firing-part.ts'
import {
  endsOwnTrigger,
  instructionEffects,
  isRescheduled,
  notCarriedOut,
} from '../../../instruction-effects.ts'
import type { CompletionAnswer, JobCompletion } from '../../../job-store.ts'
import { isMadeByScheduler, isOwnKey } from '../../../own-triggers.ts'
import { dataAfterRun, type JobDataAndPlan } from '../../../planned-data.ts'
import { nextTriggerState, type StoredTriggerState, type TriggerAction } from '../../../trigger-state.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { LockedAmong } from '../../tables/firings/fired-trigger-table.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import type { TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { noteEndedOfGroups } from '../steps/ended-claims.ts'
import { tellFaultyFirings } from '../steps/faulty-triggers.ts'
import { recordEnded, recordLogOfFenced } from '../steps/history.ts'
import { lockJobs, lockTriggers, storeNewTriggers } from '../steps/new-triggers.ts'
import { deleteFinishedJobs } from '../steps/orphans.ts'
import { tryLockJobs, tryLockTriggers } from '../steps/passing-over.ts'
import { endPlain } from '../steps/plain-ends.ts'
import { settleLockedJobs, uniqueKeys } from '../steps/settling.ts'
import { endLostItemsOf, loadOpenFirings, writeOpenFirings } from '../steps/split-firings.ts'

interface EndedExecution {
  readonly completion: JobCompletion
  readonly jobKey: JobKey
  readonly nonConcurrent: boolean
  /** Its job may have lost its last trigger and be kept only until this execution ends. */
  readonly mayBeWaitedFor: boolean
}

/**
 * Ends executions whose firings still belong to this node, or go on elsewhere. A completion of any other firing, and
 * one that needs a row which another session has locked, writes nothing.
 */
export function* completeJobs(
  tx: SqlTransaction,
  completions: readonly JobCompletion[],
): SqlProgram<CompletionAnswer> {
  const locked: JobCompletion[] = []
  const passedOver: JobCompletion[] = []
  for (let from = 0; from < completions.length; ) {
    const together = independentEnds(completions.slice(from))
    const answer = yield* completeTogether(tx, together)
    locked.push(...answer.locked)
    passedOver.push(...answer.passedOver)
    from += together.length
  }
  return { locked, passedOver }
}

/** The first completions, as many as can be written together because none depends on another one. */
function independentEnds(completions: readonly JobCompletion[]): readonly JobCompletion[] {
  const retries: JobCompletion[] = []
  const deletions = new KeySet<JobKey>()
  for (const [index, completion] of completions.entries()) {
    const { jobDetail, retryTrigger } = completion
    const seesRetry = retries.some((earlier) => seesRetryOf(completion, earlier))
    // A job that lost its last trigger is deleted, so it is not tried again.
    const seesDeletion = retryTrigger !== null && deletions.has(jobDetail.key)
    if (seesRetry || seesDeletion) return completions.slice(0, index)
    if (retryTrigger !== null) retries.push(completion)
    else if (endsOwnTrigger(completion)) deletions.add(jobDetail.key)
  }
  return completions
}

/** Whether a completion's instruction concerns a trigger that an earlier one stores. */
function seesRetryOf(completion: JobCompletion, { jobDetail, retryTrigger }: JobCompletion): boolean {
  const effect = instructionEffects[completion.instruction]
  if (retryTrigger === null || effect === null) return false
  if (effect.isForAll) return completion.jobDetail.key.equals(jobDetail.key)
  return completion.trigger.key.equals(retryTrigger.key)
}

function* completeTogether(
  tx: SqlTransaction,
  completions: readonly JobCompletion[],
): SqlProgram<CompletionAnswer> {
  const { whole, begun } = yield* endPlain(tx, completions)
  const others = completions.filter((completion) => !whole.has(completion))
  const { ended, left } =
    others.length === 0 ? { ended: [], left: [] } : yield* completeUnderLock(tx, others, begun)
  const all = [...whole, ...ended.map(({ completion }) => completion)]
  noteEndedOfGroups(tx, [...Array.from(whole, ({ jobDetail: { key } }) => ({ jobKey: key })), ...ended])
  yield* recordEnded(tx, all)
  if (all.length + left.length === completions.length) return { locked: left, passedOver: [] }
  const known = new Set([...all, ...left])
  return { locked: left, passedOver: completions.filter((completion) => !known.has(completion)) }
}

/** Ends executions under the locks of what they change; the rows of those that have `begun` to end are deleted. */
function* completeUnderLock(
  tx: SqlTransaction,
  completions: readonly JobCompletion[],
  begun: ReadonlySet<JobCompletion>,
): SqlProgram<{ readonly ended: readonly EndedExecution[]; readonly left: readonly JobCompletion[] }> {
  // Jobs before triggers, as everywhere.
  const triggers = new TriggersUnderLock()
  const [jobs, lockedTriggers] = yield* together(
    tryLockJobs(
      tx,
      jobKeysOf(completions.filter(touchesJob)),
      new KeySet(jobKeysOf(completions.filter(leavesData))),
    ),
    triggers.lock(tx, completions),
  )
  const free = completions.filter(
    ({ jobDetail, trigger }) => !jobs.locked.has(jobDetail.key) && !lockedTriggers.has(trigger.key),
  )
  const { ended, locked } = yield* deleteRows(tx, free, begun)
  yield* lockFurtherJobs(tx, ended, jobs.found)
  yield* carryOut(tx, ended, { jobs: jobs.found, triggers })
  if (ended.length + locked.size < free.length) {
    const known = new Set(ended.map(({ completion }) => completion))
    yield* recordLogOfFenced(
      tx,
      free.filter((completion) => !known.has(completion) && !locked.has(completion.fireInstanceId)),
    )
  }
  const left = completions.filter(
    (completion) => !free.includes(completion) || locked.has(completion.fireInstanceId),
  )
  return { ended, left }
}

/** Executions that run here belong to this node; those that go on elsewhere end on any. */
function* tryDeleteRows(
  tx: SqlTransaction,
  completions: readonly JobCompletion[],
): SqlProgram<LockedAmong<string, FiredRow>> {
  const { firedTriggers, awaitedResults } = tx.session
  const idsOf = (chosen: readonly JobCompletion[]): string[] => chosen.map((each) => each.fireInstanceId)
  const own = yield* firedTriggers.tryDelete(
    idsOf(completions.filter(({ isAwaited }) => isAwaited !== true)),
    'EXECUTING',
  )
  const elsewhere = completions.filter(({ isAwaited }) => isAwaited === true)
  if (elsewhere.length === 0) return own
  const awaited = yield* firedTriggers.tryDeleteAwaited(idsOf(elsewhere))
  // What another node has ended at its deadline keeps its row, because its result is late.
  const ids = new Set(awaited.found.map(({ fireInstanceId }) => fireInstanceId))
  const ended = elsewhere.filter(({ fireInstanceId }) => ids.has(fireInstanceId))
  const late = ended.filter(({ mayBeLate }) => mayBeLate === true)
  if (late.length > 0) yield* awaitedResults.keepLate(idsOf(late))
  if (late.length < ended.length) {
    yield* awaitedResults.delete(idsOf(ended.filter(({ mayBeLate }) => mayBeLate !== true)))
  }
  return { found: [...own.found, ...awaited.found], locked: [...own.locked, ...awaited.locked] }
}

/** Ends executions that still belong to this node and whose rows no other session has locked. */
function* deleteRows(
  tx: SqlTransaction,
  completions: readonly JobCompletion[],
  begun: ReadonlySet<JobCompletion>,
): SqlProgram<{ readonly ended: readonly EndedExecution[]; readonly locked: ReadonlySet<string> }> {
  const present = begun.size === 0 ? completions : completions.filter((each) => !begun.has(each))
  const { found, locked } = yield* tryDeleteRows(tx, present)
  const rows = new Map(found.map((row) => [row.fireInstanceId, row]))
  tellFaultyFirings(tx, [...rows.values()])
  const ended: EndedExecution[] = []
  for (const completion of completions) {
    if (begun.has(completion)) {
      const { key } = completion.jobDetail
      ended.push({ completion, jobKey: key, nonConcurrent: false, mayBeWaitedFor: false })
      continue
    }
    const row = rows.get(completion.fireInstanceId)
    // An execution that is named twice ends once.
    if (row === undefined || !rows.delete(completion.fireInstanceId)) continue
    const { disallowConcurrentExecution } = completion.jobDetail
    ended.push({
      completion,
      jobKey: row.jobKey ?? completion.jobDetail.key,
      nonConcurrent: row.nonConcurrent || disallowConcurrentExecution,
      // Its row says that its end must look at the job, which the completion alone does not.
      mayBeWaitedFor: row.nonConcurrent && !disallowConcurrentExecution,
    })
  }
  return { ended, locked: new Set(locked) }
}

/**
 * Locks the jobs of executions whose rows only say that their ends must look at the job, and those that were not there
 * before: one that is stored anew before the rows are deleted has triggers that these executions block.
 */
function* lockFurtherJobs(
  tx: SqlTransaction,
  ended: readonly EndedExecution[],
  jobs: KeyMap<JobKey, JobRef>,
): SqlProgram<void> {
  const told = ended.filter(({ nonConcurrent, jobKey }) => nonConcurrent && !jobs.has(jobKey))
  const further = yield* lockJobs(tx, uniqueKeys(told.map(({ jobKey }) => jobKey)))
  for (const ref of further.values()) jobs.set(ref.key, ref)
}

/** Writes what follows from executions whose rows were deleted. */
function* carryOut(
  tx: SqlTransaction,
  ended: readonly EndedExecution[],
  { jobs, triggers }: { readonly jobs: KeyMap<JobKey, JobRef>; readonly triggers: TriggersUnderLock },
): SqlProgram<void> {
  const refsOf = (keys: readonly JobKey[]): JobRef[] => uniqueKeys(keys).flatMap((key) => jobs.get(key) ?? [])
  const jobsLosingTriggers = yield* carryOutInstructions(tx, ended, triggers)
  yield* writeData(tx, ended, jobs)
  const retried = yield* storeRetries(tx, ended, jobs)
  yield* endItems(tx, ended, { jobs, retried })
  yield* endLostItemsOf(tx, triggers.deletedWaiting(), jobs)
  const nonConcurrent = ended.filter((each) => each.nonConcurrent)
  yield* settleLockedJobs(tx, refsOf(nonConcurrent.map(({ jobKey }) => jobKey)))
  const waitedFor = ended.filter((each) => each.mayBeWaitedFor).map(({ jobKey }) => jobKey)
  yield* deleteFinishedJobs(tx, refsOf([...jobsLosingTriggers, ...waitedFor]))
}

/** Whether the job of an execution that ended must be looked at; most executions leave it as it is. */
function touchesJob(completion: JobCompletion): boolean {
  const { jobDataMap, jobDetail, retryTrigger } = completion
  return (
    jobDetail.disallowConcurrentExecution ||
    endsOwnTrigger(completion) ||
    instructionEffects[completion.instruction]?.isForAll === true ||
    jobDataMap !== null ||
    retryTrigger !== null ||
    runsItem(completion)
  )
}

function leavesData({ jobDataMap }: JobCompletion): boolean {
  return jobDataMap !== null
}

function jobKeysOf(completions: readonly JobCompletion[]): readonly JobKey[] {
  return uniqueKeys(completions.map(({ jobDetail: { key } }) => key))
}

function runsItem({ trigger }: JobCompletion): boolean {
  return firingPartOf(trigger.jobDataMap) !== null
}

/** Ends the items that executions ran, or notes the triggers that run them again. */
function* endItems(
  tx: SqlTransaction,
  ended: readonly EndedExecution[],
  { jobs, retried }: { readonly jobs: KeyMap<JobKey, JobRef>; readonly retried: KeySet<TriggerKey> },
): SqlProgram<void> {
  const items = ended.filter(({ completion, jobKey }) => runsItem(completion) && jobs.has(jobKey))
  const open = yield* loadOpenFirings(tx, uniqueKeys(items.map(({ jobKey }) => jobKey)))
  for (const { completion, jobKey } of items) {
    const { trigger, retryTrigger, report } = completion
    const isRetried = retryTrigger !== null && retried.has(retryTrigger.key)
    if (isRetried) open.get(jobKey)?.move(trigger.key, retryTrigger.key)
    else open.get(jobKey)?.end(trigger.key, report?.outcome ?? 'failed', report?.errorText ?? null)
  }
  yield* writeOpenFirings(tx, open, { jobs })
}

/** Carries out the instructions of executions; answers the jobs that lost a trigger. */
function* carryOutInstructions(
  tx: SqlTransaction,
  ended: readonly EndedExecution[],
  triggers: TriggersUnderLock,
): SqlProgram<readonly JobKey[]> {
  const jobsLosingTriggers: JobKey[] = []
  for (const { completion, jobKey } of ended) {
    const effect = instructionEffects[completion.instruction]
    if (effect === null) continue
    const own = triggers.get(completion, jobKey)
    const isBack = own !== null && effect.action !== 'fail' && isRescheduled(completion, own)
    const isEnded = own !== null && !isBack && endsOwnTrigger(completion)
    if (isEnded) {
      triggers.delete(own)
      jobsLosingTriggers.push(jobKey)
    }
    if (effect.action === 'delete') continue
    for (const ref of effect.isForAll ? triggers.ofJob(jobKey) : own === null ? [] : [own]) {
      if (ref === own && (isBack || isEnded)) continue
      if (effect.action === 'complete' && triggers.isMade(ref)) {
        triggers.delete(ref)
        jobsLosingTriggers.push(jobKey)
        continue
      }
      if (triggers.apply(ref, effect.action) && effect.action === 'fail') {
        tx.signals.add('triggerInError', ref.key, notCarriedOut(jobKey))
      }
    }
  }
  yield* triggers.write(tx)
  return jobsLosingTriggers
}

/** The triggers of a batch of completions: read once, changed in memory, written once. */
class TriggersUnderLock {
  readonly #refs = new KeyMap<TriggerRef['key'], TriggerRef>()
  readonly #states = new KeyMap<TriggerRef['key'], StoredTriggerState>()
  readonly #deleted = new KeyMap<TriggerRef['key'], TriggerRef>()
  readonly #made = new KeySet<TriggerRef['key']>()
  #endsClaims = false

  /** The trigger that fired; null when it is gone or its key belongs to a trigger of another job by now. */
  get(completion: JobCompletion, jobKey: JobKey): TriggerRef | null {
    const ref = this.#refs.get(completion.trigger.key)
    return ref !== undefined && ref.jobKey.equals(jobKey) && !this.#deleted.has(ref.key) ? ref : null
  }

  /** Locks the jobs and triggers of completions; answers the triggers that another session has locked. */
  *lock(tx: SqlTransaction, completions: readonly JobCompletion[]): SqlProgram<KeySet<TriggerRef['key']>> {
    const single = completions.filter(
      ({ instruction }) => instructionEffects[instruction]?.isForAll === false,
    )
    const { found, locked } = yield* tryLockTriggers(
      tx,
      single.map(({ trigger }) => trigger.key),
    )
    this.#keep(found.values())
    const all = completions.filter(({ instruction }) => instructionEffects[instruction]?.isForAll === true)
    if (all.length > 0) {
      const jobKeys = uniqueKeys(all.map(({ jobDetail }) => jobDetail.key))
      const refs = yield* tx.session.triggers.lockOfJobs(jobKeys)
      this.#keep(refs)
      yield* this.#findMade(tx, refs)
    }
    return locked
  }

  /** Whether the scheduler made it and it waits to fire. */
  isMade({ key }: TriggerRef): boolean {
    return this.#made.has(key)
  }

  /** Those that were deleted before they fired. */
  deletedWaiting(): readonly TriggerRef[] {
    return this.#deleted.values().filter((ref) => this.isMade(ref))
  }

  ofJob(jobKey: JobKey): TriggerRef[] {
    return this.#refs.values().filter((ref) => ref.jobKey.equals(jobKey) && !this.#deleted.has(ref.key))
  }

  delete(ref: TriggerRef): void {
    this.#endsClaims ||= ref.state === 'ACQUIRED'
    this.#states.delete(ref.key)
    this.#deleted.set(ref.key, ref)
  }

  /** False when the action does nothing in the state of the trigger. */
  apply(ref: TriggerRef, action: TriggerAction): boolean {
    const before = this.#states.get(ref.key) ?? ref.state
    const after = nextTriggerState(before, action)
    if (after === null) return false
    this.#endsClaims ||= before === 'ACQUIRED'
    this.#states.set(ref.key, after)
    return true
  }

  *write(tx: SqlTransaction): SqlProgram<void> {
    const { triggers, firedTriggers } = tx.session
    const states = this.#states.keys().flatMap((key) => {
      const state = this.#states.get(key)
      return state === undefined ? [] : [{ key, state }]
    })
    if (states.length > 0) yield* triggers.setStates(states)
    if (this.#deleted.size > 0) yield* triggers.delete(this.#deleted.values())
    if (this.#endsClaims) yield* firedTriggers.deleteStaleClaims()
  }

  *#findMade(tx: SqlTransaction, refs: readonly TriggerRef[]): SqlProgram<void> {
    const keys = refs.filter(({ key, state }) => isOwnKey(key) && state !== 'COMPLETE').map(({ key }) => key)
    if (keys.length === 0) return
    const { found } = yield* tx.session.triggers.load(keys)
    for (const { trigger } of found.values()) if (isMadeByScheduler(trigger)) this.#made.add(trigger.key)
  }

  #keep(refs: readonly TriggerRef[]): void {
    for (const ref of refs) this.#refs.set(ref.key, ref)
  }
}

/** Data that the store cannot keep must not prevent the end of an execution: the job then keeps its old data. */
function* writeData(
  tx: SqlTransaction,
  ended: readonly EndedExecution[],
  jobs: KeyMap<JobKey, JobRef>,
): SqlProgram<void> {
  const written = new KeyMap<JobKey, JobDataAndPlan>()
  const entries = ended.flatMap(({ completion: { jobDataMap: left, jobDetail }, jobKey: key }) => {
    const job = jobs.get(key)
    // One that was not there under the lock may be stored by now, of another type.
    if (left === null || job?.jobType !== jobDetail.jobType) return []
    const stored = written.get(key) ?? job.stored
    const data = stored === undefined ? left : dataAfterRun(left, jobDetail, stored)
    // Another run of the job may end in the same batch.
    if (stored !== undefined) written.set(key, { jobDataMap: data, plan: stored.plan })
    return [{ key, data, encoding: job.dataEncoding }]
  })
  for (const { key, error } of yield* tx.session.jobs.writeData(entries)) {
    tx.signals.add('storeError', `What job '${key.toString()}' left in its data was not stored.`, error)
  }
}

/** Whether a retry trigger can be stored; one that cannot is reported and dropped, so that the execution still ends. */
function isStorable({ session, signals }: SqlTransaction, retry: Trigger): boolean {
  try {
    session.triggers.requireStorable(retry)
    return true
  } catch (error) {
    const job = String(retry.jobKey)
    signals.add('storeError', `A retry of job '${job}' cannot be stored: the job does not run again.`, error)
    return false
  }
}

/** Stores the triggers that run failed jobs again, of jobs that still exist and are of the type that has run. */
function* storeRetries(
  tx: SqlTransaction,
  ended: readonly EndedExecution[],
  jobs: KeyMap<JobKey, JobRef>,
): SqlProgram<KeySet<TriggerKey>> {
  const stored = ended.flatMap(({ completion: { jobDetail, retryTrigger } }) => {
    const jobKey = retryTrigger?.jobKey ?? null
    if (retryTrigger === null || jobKey === null) return []
    const isOfType = jobs.get(jobKey)?.jobType === jobDetail.jobType
    return isOfType && isStorable(tx, retryTrigger) ? retryTrigger : []
  })
  if (stored.length === 0) return new KeySet()
  const keys = new KeySet(stored.map(({ key }) => key))
  const existing = yield* lockTriggers(tx, keys.keys())
  yield* storeNewTriggers(tx, stored, { existing, jobs })
  return keys
}
