import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { RescheduleOptions } from '../../../../jobs/schedule-options.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { asSeen } from '../../../ended-trigger.ts'
import { requireExpectedJob } from '../../../expected-job.ts'
import { requireExpected } from '../../../expected-trigger.ts'
import type { FireSlot } from '../../../fire-slot.ts'
import type { TriggerFiredBundle } from '../../../fired-bundle.ts'
import type { JobAndTriggers } from '../../../job-and-triggers.ts'
import type { AddJobRequest } from '../../../job-store.ts'
import { inPlaceOf } from '../../../planned-job.ts'
import { jobKeyMismatch, refusalOf, rescheduledOntoAnother } from '../../../refusals.ts'
import { entriesUnderCalendars, underCalendar } from '../../../under-calendar.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { PausedGroups } from '../../tables/groups/paused-group-table.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import { nodeAffinityText } from '../../tables/jobs/node-affinity.ts'
import type { TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { calendarsOf } from '../steps/calendar-lookup.ts'
import { endStaleClaims } from '../steps/ended-claims.ts'
import { type MayFire, NewFirings } from '../steps/firing-new.ts'
import { type LockedRows, lockJobs, lockTriggers, storeNewTriggers } from '../steps/new-triggers.ts'
import { deleteOrphans } from '../steps/orphans.ts'
import { settleJobs } from '../steps/settling.ts'
import { endFormerWork } from './former-work.ts'
import { ScheduleFootprint } from './schedule-footprint.ts'

/** One call of `scheduleJobs`. */
export interface ScheduleRequest {
  readonly entries: readonly JobAndTriggers[]
  readonly replace: boolean
  /** For a trigger of it that could fire in the same transaction. Only without `replace`. Default: none may. */
  readonly slot?: FireSlot
}

/** What became of one call. */
export interface ScheduleOutcome {
  /** Why nothing of it was stored; null when it was stored. */
  readonly refusal: Error | null
  readonly fired: readonly TriggerFiredBundle[]
}

export function* scheduleJobs(
  tx: SqlTransaction,
  entries: readonly JobAndTriggers[],
  { replace, inPlace = false }: { readonly replace: boolean; readonly inPlace?: boolean },
): SqlProgram<void> {
  for (const { refusal } of yield* scheduleMany(tx, [{ entries, replace }], { inPlace })) {
    if (refusal !== null) throw refusal
  }
}

export function* addJob(
  tx: SqlTransaction,
  job: JobDetail,
  { replace, expected }: AddJobRequest,
): SqlProgram<void> {
  if (expected !== undefined) {
    yield* lockJobs(tx, [job.key])
    const { found } = yield* tx.session.jobs.load([job.key])
    requireExpectedJob(found.get(job.key) ?? null, expected)
  }
  yield* scheduleJobs(tx, [{ job, triggers: [] }], { replace })
}

/** From so many entries on, a call whose keys differ is expected to be of new keys. */
const expectedNewFrom = 1000

/**
 * Carries out several calls in one transaction, as if one came after the other; answers for each what became of it. A
 * refused call stores nothing and does not affect the others.
 *
 * `mayExpectNew`: a large call may be stored without a look at what exists, which is a third of its time. A key that is
 * taken makes its transaction fail, and the attempt after that is to look. `inPlace`: triggers are given as they take
 * the place of those of their key, whose pauses they keep, and under the calendars that are stored.
 */
export function* scheduleMany(
  tx: SqlTransaction,
  requests: readonly ScheduleRequest[],
  { mayExpectNew = false, inPlace = false }: Partial<BatchOptions> = {},
): SqlProgram<readonly ScheduleOutcome[]> {
  const outcomes: ScheduleOutcome[] = []
  // When one transaction stores them in several steps, all rows are locked first, because locks are taken in one order
  // everywhere.
  if (independentOf(requests).length < requests.length) yield* lockWhatExists(tx, keysOf(requests))
  while (outcomes.length < requests.length) {
    const batch = independentOf(requests.slice(outcomes.length))
    const isAlone = requests.length === 1
    outcomes.push(...(yield* scheduleBatch(tx, batch, { mayExpectNew: mayExpectNew && isAlone, inPlace })))
  }
  return outcomes
}

function isLikelyNew([only]: readonly ScheduleRequest[], { areDistinct }: NamedKeys): boolean {
  return areDistinct && only?.replace === false && only.entries.length >= expectedNewFrom
}

/** The first requests, as many as can be stored together because none depends on another one. */
function independentOf(requests: readonly ScheduleRequest[]): readonly ScheduleRequest[] {
  // One request may be of a hundred thousand keys.
  if (requests.length === 1) return requests
  const footprint = new ScheduleFootprint()
  const end = requests.findIndex((request) => {
    const isDependent = footprint.meets(request)
    footprint.add(request)
    return isDependent
  })
  return end < 0 ? requests : requests.slice(0, end)
}

interface BatchOptions {
  readonly mayExpectNew: boolean
  readonly inPlace: boolean
}

interface Stored {
  /** Keys of triggers that are taken. */
  readonly taken: KeyMap<TriggerKey, JobKey>
  /** Locked: those that may be replaced. */
  readonly triggers: KeyMap<TriggerKey, TriggerRef>
  /** Locked. */
  readonly jobs: KeyMap<JobKey, JobRef>
  /** Of these, whole: those whose new triggers may fire. */
  readonly details: KeyMap<JobKey, JobDetail>
  readonly paused: PausedGroups | null
  /** No key is stored or named twice, and each trigger comes with its job: then nothing can be refused. */
  readonly areNew: boolean
}

/**
 * Stores requests together; answers for the first of them only when a later one depends on their result.
 * `mayExpectNew`: for a single one, as in {@link scheduleMany}.
 */
function* scheduleBatch(
  tx: SqlTransaction,
  requests: readonly ScheduleRequest[],
  { mayExpectNew, inPlace }: BatchOptions,
): SqlProgram<readonly ScheduleOutcome[]> {
  const keys = keysOf(requests)
  const stored =
    mayExpectNew && isLikelyNew(requests, keys)
      ? nothingStored(yield* tx.session.pausedGroups.load())
      : yield* lockWhatExists(tx, keys)
  const placed = inPlace ? asGiven : yield* underCalendars(tx, requests)
  const refusals: (Error | null)[] = []
  const accepted: ScheduleRequest[] = []
  const jobsLosingTriggers = new KeySet<JobKey>()
  for (const request of requests) {
    // A job that loses a trigger may be deleted with it.
    if (jobsLosingTriggers.size > 0 && namesAny(request, jobsLosingTriggers)) break
    const { entries, replace } = request
    const taken = stored.areNew
      ? null
      : refusalOf(entries, replace, { jobs: stored.jobs, triggers: stored.taken })
    const { refusal, entries: fresh } = taken === null ? placed(request) : { refusal: taken, entries }
    refusals.push(refusal)
    if (refusal !== null) continue
    accepted.push({ ...request, entries: fresh })
    for (const key of jobsLosingTriggersIn(stored, request)) jobsLosingTriggers.add(key)
  }
  const firings = new NewFirings(tx, mayFireOf(accepted, stored))
  yield* storeEntries(
    tx,
    accepted.flatMap(({ entries }) => entries),
    { stored, firings, inPlace },
  )
  return refusals.map((refusal, index) => {
    const triggers = refusal === null ? (requests[index]?.entries ?? []).flatMap((each) => each.triggers) : []
    return { refusal, fired: triggers.flatMap(({ key }) => firings.bundleOf(key) ?? []) }
  })
}

/** What is to be stored of a request, or why nothing is. */
interface Placed {
  readonly refusal: Error | null
  readonly entries: readonly JobAndTriggers[]
}

function asGiven({ entries }: ScheduleRequest): Placed {
  return { refusal: null, entries }
}

/** Answers a function that gives the entries of a request under the calendars as they are stored now. */
function* underCalendars(
  tx: SqlTransaction,
  requests: readonly ScheduleRequest[],
): SqlProgram<(request: ScheduleRequest) => Placed> {
  const entries = requests.flatMap((request) => request.entries)
  const calendarOf = yield* calendarsOf(
    tx,
    entries.flatMap(({ triggers }) => triggers),
  )
  return (request) => {
    try {
      const placed = entriesUnderCalendars(request.entries, { calendarOf, nowMs: tx.nowMs })
      return { refusal: null, entries: placed }
    } catch (error) {
      const refusal = error instanceof Error ? error : new Error(String(error), { cause: error })
      return { refusal, entries: request.entries }
    }
  }
}

/** The triggers that may fire in this transaction, with their jobs. */
function mayFireOf(requests: readonly ScheduleRequest[], { details }: Stored): KeyMap<TriggerKey, MayFire> {
  const found = new KeyMap<TriggerKey, MayFire>()
  for (const { entries, slot } of requests) {
    if (slot === undefined) continue
    for (const { job, triggers } of entries) {
      for (const { key, jobKey } of triggers) {
        if (jobKey === null) continue
        const jobDetail = job?.key.equals(jobKey) === true ? job : details.get(jobKey)
        if (jobDetail !== undefined) found.set(key, { jobDetail, slot })
      }
    }
  }
  return found
}

/** The keys that requests name. */
interface NamedKeys {
  readonly triggerKeys: KeySet<TriggerKey>
  readonly jobKeys: KeySet<JobKey>
  /** Triggers that may be replaced. */
  readonly replaceable: KeySet<TriggerKey>
  /** Jobs that are read whole, because a trigger that comes without its job may fire. */
  readonly whole: KeySet<JobKey>
  /** No key comes twice, and each trigger with its job. */
  readonly areDistinct: boolean
  /** Triggers are added to jobs, and no job is stored. */
  readonly addTriggersAlone: boolean
}

function keysOf(requests: readonly ScheduleRequest[]): NamedKeys {
  const triggerKeys = new KeySet<TriggerKey>()
  const jobKeys = new KeySet<JobKey>()
  const replaceable = new KeySet<TriggerKey>()
  const whole = new KeySet<JobKey>()
  let areDistinct = true
  let addTriggersAlone = true
  for (const { entries, replace, slot } of requests) {
    for (const { job, triggers } of entries) {
      if (job !== null) {
        addTriggersAlone = false
        if (!jobKeys.add(job.key)) areDistinct = false
      }
      for (const { key, jobKey } of triggers) {
        if (!triggerKeys.add(key)) areDistinct = false
        if (replace) replaceable.add(key)
        if (jobKey !== null && job?.key.equals(jobKey) === true) continue
        areDistinct = false
        if (jobKey === null) continue
        jobKeys.add(jobKey)
        if (job === null && slot !== undefined) whole.add(jobKey)
      }
    }
  }
  return { triggerKeys, jobKeys, replaceable, whole, areDistinct, addTriggersAlone }
}

function nothingStored(paused: PausedGroups): Stored {
  return {
    taken: new KeyMap(),
    triggers: new KeyMap(),
    jobs: new KeyMap(),
    details: new KeyMap(),
    paused,
    areNew: true,
  }
}

function* lockWhatExists(
  tx: SqlTransaction,
  { triggerKeys, jobKeys, replaceable, whole, areDistinct, addTriggersAlone }: NamedKeys,
): SqlProgram<Stored> {
  const look = tx.session.keyLists.jobsOfTriggers(triggerKeys.keys())
  if (replaceable.size === 0) {
    // A job is read behind its lock, so that it is the one that is locked.
    const behind = together(tx.session.pausedGroups.load(), tx.session.jobs.load(whole.keys()))
    // Callers of many processes add triggers to the same job. Of a mixed call all locks are of one kind, in one order.
    const locks = lockJobs(tx, jobKeys.keys(), { toAdd: addTriggersAlone })
    const lockAndLook = together(locks, behind)
    const [taken, [locked, [paused, { found }]]] = yield* together(look, lockAndLook)
    const areNew = areDistinct && taken.size === 0 && locked.size === 0
    return { taken, triggers: new KeyMap(), jobs: locked, details: found, paused, areNew }
  }
  const taken = yield* look
  const replaced = taken.keys().filter((key) => replaceable.has(key))
  for (const key of replaced) {
    const formerJob = taken.get(key)
    if (formerJob !== undefined) jobKeys.add(formerJob)
  }
  // Jobs before triggers, as everywhere, and all of them in one order.
  const lockedJobs = yield* lockJobs(tx, jobKeys.keys())
  const locked = yield* lockTriggers(tx, replaced)
  const areNew = areDistinct && taken.size === 0 && lockedJobs.size === 0
  return { taken, triggers: locked, jobs: lockedJobs, details: new KeyMap(), paused: null, areNew }
}

/** The jobs whose stored triggers a request gives to other jobs. */
function jobsLosingTriggersIn(stored: Stored, { entries }: ScheduleRequest): JobKey[] {
  if (stored.triggers.size === 0) return []
  return entries
    .flatMap(({ triggers }) => triggers)
    .flatMap(({ key, jobKey }) => {
      const former = stored.triggers.get(key)?.jobKey
      return former !== undefined && jobKey?.equals(former) !== true ? [former] : []
    })
}

function namesAny({ entries }: ScheduleRequest, keys: KeySet<JobKey>): boolean {
  return entries.some(
    ({ job, triggers }) =>
      (job !== null && keys.has(job.key)) ||
      triggers.some(({ jobKey }) => jobKey !== null && keys.has(jobKey)),
  )
}

interface StoredAndFirings {
  readonly stored: Stored
  readonly firings: NewFirings
}

function* storeEntries(
  tx: SqlTransaction,
  entries: readonly JobAndTriggers[],
  { stored, firings, inPlace }: Pick<BatchOptions, 'inPlace'> & StoredAndFirings,
): SqlProgram<void> {
  const { details, jobs } = jobsOf(entries, stored)
  yield* storeJobs(tx, details, stored.jobs)
  const triggers = entries.flatMap((entry) => entry.triggers)
  const jobsLosingTriggers = yield* storeNewTriggers(tx, triggers, {
    existing: stored.triggers,
    jobs,
    paused: stored.paused,
    keepsPauses: inPlace,
    firings,
  })
  yield* firings.begin()
  yield* deleteOrphans(tx, jobsLosingTriggers)
}

/** The jobs of the entries, the last one of each key, and what is known of those that triggers name. */
function jobsOf(
  entries: readonly JobAndTriggers[],
  { areNew, jobs }: Stored,
): { readonly details: readonly JobDetail[]; readonly jobs: LockedRows['jobs'] } {
  const all = entries.flatMap(({ job }) => job ?? [])
  // A hundred thousand of them need no look-up then.
  if (areNew && !all.some((job) => job.disallowConcurrentExecution)) {
    return { details: all, jobs: { get: () => ({ nonConcurrent: false }) } }
  }
  const details = new KeyMap<JobKey, JobDetail>()
  for (const job of all) details.set(job.key, job)
  const get = (key: JobKey): Pick<JobRef, 'nonConcurrent'> | undefined => {
    const detail = details.get(key)
    return detail === undefined ? jobs.get(key) : { nonConcurrent: detail.disallowConcurrentExecution }
  }
  return { details: details.values(), jobs: { get } }
}

export function* storeJobs(
  tx: SqlTransaction,
  details: readonly JobDetail[],
  stored: KeyMap<JobKey, JobRef>,
): SqlProgram<void> {
  const { jobs, scopes } = tx.session
  const fresh = details.filter(({ key }) => !stored.has(key))
  yield* jobs.insert(fresh)
  const replacing = details.filter(({ key }) => stored.has(key))
  yield* jobs.put(replacing)
  const changed = replacing.filter((detail) => changesKind(detail, stored.get(detail.key)))
  if (changed.length === 0) return
  const keys = changed.map(({ key }) => key)
  yield* scopes.release(keys)
  yield* endFormerWork(tx, formerOf(changed, stored))
  yield* endStaleClaims(tx)
  yield* settleJobs(tx, keys)
  tx.offers.note(yield* scopes.earliestOfJobs(keys))
}

/** The stored jobs in whose place there are jobs of other types. */
function formerOf(changed: readonly JobDetail[], stored: KeyMap<JobKey, JobRef>): readonly JobRef[] {
  return changed.flatMap(({ key, jobType }) => {
    const ref = stored.get(key)
    return ref === undefined || ref.jobType === jobType ? [] : ref
  })
}

/** Whether replacing a job changes the rules for its waiting triggers, so that claims on them are void. */
function changesKind(detail: JobDetail, stored: JobRef | undefined): boolean {
  return (
    stored !== undefined &&
    (stored.nonConcurrent !== detail.disallowConcurrentExecution ||
      stored.jobType !== detail.jobType ||
      stored.nodeAffinity !== nodeAffinityText(detail.nodeAffinity))
  )
}

/** Replaces a trigger by another one of the same job; false when there is no such trigger. */
export function* rescheduleTrigger(
  tx: SqlTransaction,
  key: TriggerKey,
  trigger: Trigger,
  { goesOnFrom, expected }: RescheduleOptions = {},
): SqlProgram<boolean> {
  const formerJob = (yield* tx.session.keyLists.jobsOfTriggers([key])).get(key)
  if (formerJob === undefined) return false
  const jobs = yield* lockJobs(tx, [formerJob])
  const existing = yield* lockTriggers(tx, [key, trigger.key])
  const replaced = existing.get(key)
  // It was deleted, or went to another job, while this waited for the locks.
  if (replaced === undefined || !jobs.has(replaced.jobKey)) return false
  const { jobKey } = replaced
  if (trigger.jobKey?.equals(jobKey) !== true) throw jobKeyMismatch(key, jobKey, trigger.jobKey)
  if (expected !== undefined) {
    const { found } = yield* tx.session.triggers.load([key])
    requireExpected(found.get(key)?.trigger ?? null, expected, tx.session.context.triggerFamilies)
  }
  const keepsKey = key.equals(trigger.key)
  if (!keepsKey && existing.has(trigger.key)) throw rescheduledOntoAnother(trigger.key)
  if (goesOnFrom !== undefined && keepsKey) {
    const inPlace = yield* triggerInPlace(tx, trigger, goesOnFrom)
    yield* storeNewTriggers(tx, [inPlace], { existing, jobs, keepsPauses: true })
    return true
  }
  const calendarOf = yield* calendarsOf(tx, [trigger])
  const fresh = underCalendar(trigger, calendarOf(trigger), tx.nowMs)
  yield* storeNewTriggers(tx, [fresh], { existing, jobs })
  if (keepsKey) return true
  yield* tx.session.triggers.delete([replaced])
  if (replaced.state === 'ACQUIRED') yield* endStaleClaims(tx)
  return true
}

/** A stored trigger that cannot be read counts as none: the new one begins anew. */
function* triggerInPlace(
  tx: SqlTransaction,
  trigger: Trigger,
  goesOnFrom: NonNullable<RescheduleOptions['goesOnFrom']>,
): SqlProgram<Trigger> {
  const { found } = yield* tx.session.triggers.load([trigger.key])
  const stored = found.get(trigger.key)
  const calendarOf = yield* calendarsOf(tx, [trigger])
  const { nowMs } = tx
  const calendar = calendarOf(trigger)
  if (stored === undefined) return underCalendar(trigger, calendar, nowMs)
  return inPlaceOf(asSeen(stored.trigger, stored.state), { trigger, goesOnFrom, calendar, nowMs })
}
