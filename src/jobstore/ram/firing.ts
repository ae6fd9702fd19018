import type { EpochMs } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import { plannedFireTimeMs, type Trigger } from '../../triggers/trigger.ts'
import { endsOwnTrigger, instructionEffects, isRescheduled, notCarriedOut } from '../instruction-effects.ts'
import type { AcquiredTrigger, AcquireRequest, JobCompletion, TriggerFiredResult } from '../job-store.ts'
import { inFireOrder } from '../job-store.ts'
import { isMadeByScheduler } from '../own-triggers.ts'
import { dataAfterRun } from '../planned-data.ts'
import { isSplit } from '../split-firing.ts'
import { applyMisfire, isMisfired } from './misfires.ts'
import type { RamData } from './ram-data.ts'
import type { RamSession } from './ram-session.ts'
import { RamClaim, type TriggerRecord } from './records.ts'
import { endItem, endLostItemsOf, splitFiring } from './sharding.ts'

/**
 * How many misfired triggers one turn of the event loop may handle: after a long sleep every trigger of the store can
 * be a misfire, and other work must not wait for all of them.
 */
const maxUpdatesPerTurn = 500

/** How many late triggers are handled although the batch has no room for them. */
const misfiresPerTurn = 50

const gone: TriggerFiredResult = Object.freeze({ kind: 'gone' })

/** How long late triggers wait while triggers in time take all the room of the batches. */
const misfireTurnMs = 1000

/**
 * Claims triggers; null means that this turn was used up by late triggers and nothing is claimed yet, so the caller
 * calls again. Triggers in time come before late ones, because there can be as many late ones as the store holds.
 */
export function acquireTriggers(session: RamSession, request: AcquireRequest): AcquiredTrigger[] | null {
  const { data, context } = session
  const nowMs = session.now()
  const search: Search = { session, nowMs, lastMisfired: null, updates: 0 }
  const acquired: AcquiredTrigger[] = []
  let limitMs = request.noLaterThanMs
  data.queue.unshelve(context.knowsJobType)
  while (acquired.length < request.maxCount) {
    const record = nextToClaim(search, limitMs)
    if (record === 'none') return inFireOrder(acquired)
    if (record === 'later') return acquired.length > 0 ? inFireOrder(acquired) : null
    const fireInstanceId = session.nextFireInstanceId()
    data.claim(record, fireInstanceId, nowMs)
    const claim = new RamClaim(record, fireInstanceId)
    const { trigger } = claim
    if (acquired.length === 0)
      limitMs = Math.max(trigger.nextFireTimeMs ?? nowMs, nowMs) + request.timeWindowMs
    if (isSplit(record.job.detail, trigger.key)) claim.isSplit = true
    acquired.push(claim)
  }
  giveMisfiresTheirTurn(search)
  return inFireOrder(acquired)
}

interface Search {
  readonly session: RamSession
  readonly nowMs: EpochMs
  lastMisfired: TriggerRecord | null
  /** How many late triggers were handled. */
  updates: number
}

/** The trigger to claim next; `none` when nothing is due, `later` when this turn has lasted long enough. */
function nextToClaim(search: Search, limitMs: EpochMs): TriggerRecord | 'none' | 'later' {
  const { session, nowMs } = search
  const { data, context } = session
  const { queue } = data
  const knows = ({ job }: TriggerRecord): boolean => context.knowsJobType(job.detail.jobType)
  for (;;) {
    const first = queue.first()
    if (first === null || !isDue(first, limitMs)) return 'none'
    const isLate = knows(first) && needsTreatment(search, first)
    const inTime = isLate ? queue.firstAfter(nowMs - context.misfireThresholdMs) : null
    const record = inTime !== null && isDue(inTime, Math.min(limitMs, nowMs)) ? inTime : first
    if (!knows(record)) queue.shelve(record)
    else if (record === first && isLate) treat(search, record)
    else return record
    if (++search.updates >= maxUpdatesPerTurn) return 'later'
  }
}

function isDue(record: TriggerRecord, limitMs: EpochMs): boolean {
  const { nextFireTimeMs } = record.trigger
  return nextFireTimeMs !== null && nextFireTimeMs <= limitMs
}

/** A trigger that comes straight back to the front kept its fire time by its misfire instruction, and fires late. */
function needsTreatment({ session, nowMs, lastMisfired }: Search, record: TriggerRecord): boolean {
  return record !== lastMisfired && isMisfired(session, record.trigger, nowMs)
}

function treat(search: Search, record: TriggerRecord): void {
  const { session, nowMs } = search
  search.lastMisfired = record
  session.misfiresTreatedAtMs = nowMs
  applyMisfire(session, record, nowMs, 'late')
}

/** Late triggers are handled now and then also while triggers in time keep the scheduler busy. */
function giveMisfiresTheirTurn(search: Search): void {
  const { session, nowMs } = search
  const { misfiresTreatedAtMs } = session
  if (nowMs < misfiresTreatedAtMs + misfireTurnMs && nowMs >= misfiresTreatedAtMs) return
  for (let count = 0; count < misfiresPerTurn; count++) {
    const first = session.data.queue.first()
    if (first === null || !needsTreatment(search, first)) return
    if (session.context.knowsJobType(first.job.detail.jobType)) treat(search, first)
    else session.data.queue.shelve(first)
  }
}

export function releaseTriggers(session: RamSession, acquired: readonly AcquiredTrigger[]): void {
  const { data } = session
  for (const claim of acquired) {
    const record = claimedRecord(data, claim)
    if (data.holds(record, claim.fireInstanceId)) data.apply(record, 'release')
  }
}

function claimedRecord(data: RamData, claim: AcquiredTrigger): TriggerRecord | undefined {
  return RamClaim.recordOf(claim) ?? data.triggers.get(claim.trigger.key)
}

export function fireTriggers(
  session: RamSession,
  acquired: readonly AcquiredTrigger[],
): readonly TriggerFiredResult[] {
  const nowMs = session.now()
  return acquired.map((claim) => fireTrigger(session, claim, nowMs))
}

function fireTrigger(session: RamSession, claim: AcquiredTrigger, nowMs: EpochMs): TriggerFiredResult {
  const { data } = session
  const { fireInstanceId } = claim
  const record = claimedRecord(data, claim)
  if (!data.holds(record, fireInstanceId)) return gone
  const before = record.trigger
  const isToSplit = isSplit(record.job.detail, before.key)
  const isUnknown = !session.context.knowsJobType(record.job.detail.jobType)
  if (isUnknown || (isToSplit && claim.isSplit !== true)) {
    // The next search leaves a job of an unknown type, and finds one that is sharded since it was claimed as such.
    data.apply(record, 'release')
    return gone
  }
  let calendar: Calendar | null
  let fired: Trigger
  try {
    calendar = session.data.calendars.calendarOf(before)
    fired = before.triggered(calendar)
  } catch (error) {
    session.putInError(record, error)
    return gone
  }
  if (isToSplit) {
    splitFiring(session, { record, fired, fireInstanceId, nowMs })
    return gone
  }
  data.beginExecution(record, fired, fireInstanceId)
  record.job.shards?.executing.set(fireInstanceId, before.key)
  return {
    kind: 'fired',
    bundle: {
      fireInstanceId,
      jobDetail: record.job.detail,
      trigger: fired,
      calendar,
      acquiredTimeMs: record.claimedMs,
      fireTimeMs: nowMs,
      scheduledFireTimeMs: plannedFireTimeMs(before) ?? nowMs,
      previousFireTimeMs: before.previousFireTimeMs,
      nextFireTimeMs: fired.nextFireTimeMs,
    },
  }
}

/** Answers those that ended nothing. */
export function completeJobs(
  session: RamSession,
  completions: readonly JobCompletion[],
): readonly JobCompletion[] {
  return completions.filter((completion) => !completeJob(session, completion))
}

/** False when the execution has ended before. */
function completeJob(session: RamSession, completion: JobCompletion): boolean {
  const { data } = session
  const fired = data.executions.get(completion.fireInstanceId)
  if (fired === undefined) return false
  const { job } = fired
  settle(session, completion, fired)
  session.records.complete(completion, job)
  return true
}

/** Does what the end of an execution asks for. */
function settle(session: RamSession, completion: JobCompletion, fired: TriggerRecord): void {
  const { data } = session
  const { job } = fired
  // Neither what it left nor a retry is for a job of another type that has its key by now.
  const isOfType = job.detail.jobType === completion.jobDetail.jobType
  if (job.isStored && isOfType && completion.jobDataMap !== null) {
    const jobDataMap = dataAfterRun(completion.jobDataMap, completion.jobDetail, job.detail)
    job.detail = { ...job.detail, jobDataMap }
  }
  const lostTrigger = carryOut(session, completion, fired)
  data.endExecution(completion.fireInstanceId, job, completion.mayBeLate)
  if (!job.isStored) return
  if (completion.retryTrigger !== null && isOfType) data.putTrigger(completion.retryTrigger, job)
  if (job.shards !== null) {
    endItem(session, job, completion)
    // Triggers of other items may have gone with it.
    if (instructionEffects[completion.instruction]?.isForAll === true) endLostItemsOf(session, job)
  }
  if (lostTrigger || job.isSpent) data.removeIfSpent(job)
}

/** Carries out the instruction of the execution; true when that deleted a trigger of the job. */
function carryOut({ data, signals }: RamSession, completion: JobCompletion, fired: TriggerRecord): boolean {
  const effect = instructionEffects[completion.instruction]
  if (effect === null) return false
  const { job } = fired
  const own = storedTriggerOf(data, completion, fired)
  const isBack = own !== null && effect.action !== 'fail' && isRescheduled(completion, own.trigger)
  const isEnded = own !== null && !isBack && endsOwnTrigger(completion)
  let losesTrigger = isEnded
  if (isEnded) data.removeTrigger(own)
  if (effect.action === 'delete') return isEnded
  for (const each of effect.isForAll ? job.triggers() : own === null ? [] : [own]) {
    if (each === own && (isBack || isEnded)) continue
    if (effect.action === 'complete' && each.state !== 'COMPLETE' && isMadeByScheduler(each.trigger)) {
      data.removeTrigger(each)
      losesTrigger = true
      continue
    }
    if (data.apply(each, effect.action) && effect.action === 'fail') {
      signals.add('triggerInError', each.trigger.key, notCarriedOut(job.detail.key))
    }
  }
  return losesTrigger
}

/** The trigger that the instruction is for: the one that fired, or what the job has in its place by now. */
function storedTriggerOf(
  data: RamData,
  { trigger }: JobCompletion,
  fired: TriggerRecord,
): TriggerRecord | null {
  if (fired.job.has(fired)) return fired
  const stored = data.triggers.get(trigger.key)
  // The key may belong to a trigger of another job by now.
  return stored?.job === fired.job ? stored : null
}
