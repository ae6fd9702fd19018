import type { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type { JobAndTriggers } from '../../src/jobstore/job-and-triggers.ts'
import type { AcquiredTrigger, AcquireRequest, JobCompletion } from '../../src/jobstore/job-store.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { compareFireOrder, type Trigger } from '../../src/triggers/trigger.ts'
import { dataLeft } from './data-left.ts'
import { firstUnderCalendar } from './first-under-calendar.ts'
import { ModelLists, type ModelTrigger, textOf } from './model-lists.ts'
import { underReplacedCalendar } from './replaced-calendar.ts'

/** What the model throws where a store rejects. */
export class Refusal extends Error {}

/**
 * What a job store is, said as plainly as can be: lists that are searched from end to end, and one rule that puts
 * BLOCKED triggers right after every step. Slow, and meant to be compared with something that is not.
 */
export class StoreModel extends ModelLists {
  #misfiresTreatedAtMs = 0

  // ---- jobs and triggers

  scheduleJobs(entries: readonly JobAndTriggers[], replace: boolean): void {
    const jobs = entries.flatMap(({ job }) => (job === null ? [] : [job]))
    const triggers = entries.flatMap((entry) => entry.triggers)
    const jobTexts = jobs.map(({ key }) => textOf(key))
    const triggerTexts = triggers.map(({ key }) => textOf(key))
    if (!replace) {
      if (new Set(jobTexts).size < jobTexts.length || jobTexts.some((text) => this.job(text) !== undefined)) {
        throw new Refusal('ERR_OBJECT_ALREADY_EXISTS')
      }
      const isTaken = triggerTexts.some((text) => this.find(text) !== undefined)
      if (isTaken || new Set(triggerTexts).size < triggerTexts.length) {
        throw new Refusal('ERR_OBJECT_ALREADY_EXISTS')
      }
    }
    for (const { jobKey } of triggers) {
      const text = textOf(jobKey)
      if (!jobTexts.includes(text) && this.job(text) === undefined) throw new Refusal('ERR_JOB_NOT_FOUND')
    }
    const placed = triggers.map((trigger) => this.#underCalendar(trigger))
    for (const job of jobs) this.#putJob(job)
    const jobsLosingTriggers = placed.flatMap((trigger) => this.#putTrigger(trigger))
    for (const jobLosingTrigger of jobsLosingTriggers) this.#removeOrphan(jobLosingTrigger)
    this.#settle()
  }

  addJob(job: JobDetail, replace: boolean): void {
    if (!replace && this.job(textOf(job.key)) !== undefined) throw new Refusal('ERR_OBJECT_ALREADY_EXISTS')
    this.#putJob(job)
    this.#settle()
  }

  reschedule(key: string, trigger: Trigger): boolean {
    const old = this.find(key)
    if (old === undefined) return false
    if (textOf(old.trigger.jobKey) !== textOf(trigger.jobKey)) throw new Refusal('ERR_JOB_KEY_MISMATCH')
    const newKey = textOf(trigger.key)
    if (newKey !== key && this.find(newKey) !== undefined) throw new Refusal('ERR_OBJECT_ALREADY_EXISTS')
    this.#putTrigger(this.#underCalendar(trigger))
    if (newKey !== key) this.triggers = this.triggers.filter((each) => each !== old)
    this.#settle()
    return true
  }

  deleteJobs(keys: readonly string[]): string[] {
    const deleted = keys.filter((key, index) => this.job(key) !== undefined && keys.indexOf(key) === index)
    this.jobs = this.jobs.filter((job) => !deleted.includes(textOf(job.key)))
    this.triggers = this.triggers.filter(({ trigger }) => !deleted.includes(textOf(trigger.jobKey)))
    this.#settle()
    return deleted
  }

  deleteTriggers(keys: readonly string[]): string[] {
    const deleted = keys.filter((key, index) => this.find(key) !== undefined && keys.indexOf(key) === index)
    const jobsLosingTriggers = deleted.map((key) => textOf(this.find(key)?.trigger.jobKey ?? null))
    this.triggers = this.triggers.filter(({ trigger }) => !deleted.includes(textOf(trigger.key)))
    for (const jobLosingTrigger of jobsLosingTriggers) this.#removeOrphan(jobLosingTrigger)
    this.#settle()
    return deleted
  }

  clear(): void {
    this.jobs = []
    this.triggers = []
    this.calendars = []
    this.pausedTriggerGroups = []
    this.pausedJobGroups = []
    this.pausesNewGroups = false
  }

  // ---- pauses

  pauseTrigger(key: string): boolean {
    const found = this.find(key)
    if (found !== undefined) this.#pause([found])
    return found !== undefined
  }

  pauseJob(key: string): boolean {
    if (this.job(key) === undefined) return false
    this.#pause(this.triggersOf(key))
    return true
  }

  pauseTriggers(matcher: GroupMatcher): string[] {
    const groups = this.groupsToPause(this.triggerGroups(), matcher)
    this.pausedTriggerGroups = [...new Set([...this.pausedTriggerGroups, ...groups])]
    this.#pause(this.triggers.filter(({ trigger }) => groups.includes(trigger.key.group)))
    return groups
  }

  pauseJobs(matcher: GroupMatcher): string[] {
    const groups = this.groupsToPause(this.jobGroups(), matcher)
    this.pausedJobGroups = [...new Set([...this.pausedJobGroups, ...groups])]
    this.#pause(this.triggers.filter(({ trigger }) => groups.includes(trigger.jobKey?.group ?? '')))
    return groups
  }

  pauseAll(): void {
    this.pausedTriggerGroups = [...new Set([...this.pausedTriggerGroups, ...this.triggerGroups()])]
    this.pausesNewGroups = true
    this.#pause(this.triggers)
  }

  /** The fire times that were left out and that are next now. */
  skip(key: string): { skippedMs: number; nextMs: number | null } | null {
    const found = this.find(key)
    const skippedMs = found?.trigger.nextFireTimeMs ?? null
    if (found === undefined || skippedMs === null) return null
    if (found.state === 'COMPLETE' || found.state === 'ERROR') return null
    const calendar = this.calendarNamed(found.trigger.calendarName)
    if (calendar === undefined) throw new Refusal('ERR_CALENDAR_NOT_FOUND')
    found.trigger = found.trigger.withoutNextFire(calendar)
    found.claim = null
    if (found.state === 'ACQUIRED') found.state = 'WAITING'
    const { nextFireTimeMs: nextMs } = found.trigger
    const isPaused = found.state === 'PAUSED' || found.state === 'PAUSED_BLOCKED'
    if (nextMs === null && !isPaused) this.#finalize(found)
    return { skippedMs, nextMs }
  }

  resumeTrigger(key: string): boolean {
    const found = this.find(key)
    if (found !== undefined) this.#resume([found])
    return found !== undefined
  }

  resumeJob(key: string): boolean {
    if (this.job(key) === undefined) return false
    this.#resume(this.triggersOf(key))
    return true
  }

  resumeTriggers(matcher: GroupMatcher): string[] {
    const known = [...this.triggerGroups(), ...this.pausedTriggerGroups]
    const groups = [...new Set(known.filter((group) => matcher.isMatchGroup(group)))]
    this.pausedTriggerGroups = this.pausedTriggerGroups.filter((group) => !groups.includes(group))
    if (matcher.operator === 'anything') this.pausesNewGroups = false
    const inGroups = this.triggers.filter(({ trigger }) => groups.includes(trigger.key.group))
    this.#resume(inGroups.filter((each) => !this.isGroupPaused(each.trigger)))
    return groups
  }

  resumeJobs(matcher: GroupMatcher): string[] {
    const known = [...this.jobGroups(), ...this.pausedJobGroups]
    const groups = [...new Set(known.filter((group) => matcher.isMatchGroup(group)))]
    this.pausedJobGroups = this.pausedJobGroups.filter((group) => !groups.includes(group))
    const inGroups = this.triggers.filter(({ trigger }) => groups.includes(trigger.jobKey?.group ?? ''))
    this.#resume(inGroups.filter((each) => !this.isGroupPaused(each.trigger)))
    return groups
  }

  resumeAll(): void {
    this.pausedTriggerGroups = []
    this.pausedJobGroups = []
    this.pausesNewGroups = false
    this.#resume(this.triggers)
  }

  reset(key: string): boolean {
    const found = this.find(key)
    if (found?.state !== 'ERROR') return false
    if (found.trigger.nextFireTimeMs === null) found.state = 'COMPLETE'
    else found.state = this.isGroupPaused(found.trigger) ? 'PAUSED' : 'WAITING'
    this.#settle()
    return true
  }

  // ---- calendars

  addCalendar(
    name: string,
    calendar: Calendar,
    options: { replace: boolean; updateTriggers: boolean },
  ): void {
    const exists = this.calendars.some((each) => each.name === name)
    if (exists && !options.replace) throw new Refusal('ERR_OBJECT_ALREADY_EXISTS')
    const old = this.calendars.find((each) => each.name === name)?.calendar
    this.calendars = [...this.calendars.filter((each) => each.name !== name), { name, calendar }]
    if (!options.updateTriggers) return
    for (const each of this.triggers)
      if (each.trigger.calendarName === name) this.#recompute(each, calendar, old)
    this.#settle()
  }

  deleteCalendar(name: string): boolean {
    if (!this.calendars.some((each) => each.name === name)) return false
    if (this.triggers.some(({ trigger }) => trigger.calendarName === name)) {
      throw new Refusal('ERR_CALENDAR_IN_USE')
    }
    this.calendars = this.calendars.filter((each) => each.name !== name)
    return true
  }

  // ---- firing

  /** The triggers that a store must claim, in order; `claim` tells the model under which ids it did. */
  acquire(request: AcquireRequest): Trigger[] {
    const picked: ModelTrigger[] = []
    let limitMs = request.noLaterThanMs
    let sawLate = false
    while (picked.length < request.maxCount) {
      const front = this.acquirable().slice(0, request.maxCount - picked.length)
      sawLate ||= front.some(({ trigger }) => this.isMisfired(trigger))
      const [first] = front
      if (first === undefined || (first.trigger.nextFireTimeMs ?? Infinity) > limitMs) break
      const isLate = this.isMisfired(first.trigger)
      const next = isLate ? this.#firstInTime(Math.min(limitMs, this.nowMs)) : first
      if (next === undefined) {
        this.#treatMisfires()
        continue
      }
      next.state = 'ACQUIRED'
      const nextMs = next.trigger.nextFireTimeMs ?? 0
      if (picked.length === 0) limitMs = Math.max(nextMs, this.nowMs) + request.timeWindowMs
      picked.push(next)
    }
    if (picked.length === request.maxCount) this.#giveMisfiresTheirTurn(sawLate)
    return picked.map(({ trigger }) => trigger).sort(compareFireOrder)
  }

  /** What is due by an instant and not late. In memory, a job that forbids concurrency shows its first trigger only. */
  #firstInTime(untilMs: number): ModelTrigger | undefined {
    const seen = new Set<string>()
    return this.acquirable().find(({ trigger }) => {
      const job = this.job(textOf(trigger.jobKey))
      const isHidden = !this.treatsLateTogether && seen.has(textOf(trigger.jobKey))
      if (job?.disallowConcurrentExecution === true) seen.add(textOf(trigger.jobKey))
      const nextMs = trigger.nextFireTimeMs ?? Infinity
      return !isHidden && nextMs <= untilMs && nextMs > this.nowMs - this.misfireThresholdMs
    })
  }

  #treatMisfires(): void {
    const late = this.acquirable().filter(({ trigger }) => this.isMisfired(trigger))
    for (const each of this.treatsLateTogether ? late : late.slice(0, 1)) this.#applyMisfire(each)
    this.#misfiresTreatedAtMs = this.nowMs
  }

  /** Late triggers do not wait for longer than a second for those that are due in time. */
  #giveMisfiresTheirTurn(sawLate: boolean): void {
    const sinceMs = this.nowMs - this.#misfiresTreatedAtMs
    // A clock that was put back is no reason to wait.
    if (sinceMs >= 0 && sinceMs < 1000) return
    if (this.treatsLateTogether) {
      if (sawLate) this.#treatMisfires()
      return
    }
    const isLate = (each: ModelTrigger | undefined): boolean =>
      each !== undefined && this.isMisfired(each.trigger)
    while (isLate(this.acquirable()[0])) this.#treatMisfires()
  }

  claim(acquired: readonly AcquiredTrigger[]): void {
    for (const { trigger, fireInstanceId } of acquired) {
      const found = this.find(textOf(trigger.key))
      if (found === undefined) continue
      found.claim = fireInstanceId
      found.claimedMs = this.nowMs
    }
  }

  release(acquired: readonly AcquiredTrigger[]): void {
    for (const claim of acquired) {
      const held = this.held(claim)
      if (held === undefined) continue
      held.state = 'WAITING'
      held.claim = null
    }
  }

  releaseAll(): void {
    for (const each of this.triggers) {
      if (each.state !== 'ACQUIRED') continue
      each.state = 'WAITING'
      each.claim = null
    }
  }

  /** For each claim what it fired with, or null when the claim is void. */
  fire(acquired: readonly AcquiredTrigger[]): (TriggerFiredBundle | null)[] {
    return acquired.map((claim) => {
      const held = this.held(claim)
      if (held === undefined) return null
      const { claimedMs } = held
      held.claim = null
      const job = this.job(textOf(held.trigger.jobKey))
      if (job !== undefined && this.unknownJobTypes.includes(job.jobType)) {
        held.state = 'WAITING'
        return null
      }
      const calendar = this.calendarOf(held)
      if (calendar === undefined || job === undefined) return null
      const before = held.trigger
      held.trigger = before.triggered(calendar)
      held.state = held.trigger.nextFireTimeMs === null ? 'COMPLETE' : 'WAITING'
      this.executions.push({ id: claim.fireInstanceId, job: textOf(job.key) })
      this.#settle()
      return {
        fireInstanceId: claim.fireInstanceId,
        jobDetail: job,
        trigger: held.trigger,
        calendar,
        acquiredTimeMs: claimedMs ?? this.nowMs,
        fireTimeMs: this.nowMs,
        scheduledFireTimeMs: before.misfiredFireTimeMs ?? before.nextFireTimeMs ?? this.nowMs,
        previousFireTimeMs: before.previousFireTimeMs,
        nextFireTimeMs: held.trigger.nextFireTimeMs,
      }
    })
  }

  complete(completion: JobCompletion): void {
    const execution = this.executions.find(({ id }) => id === completion.fireInstanceId)
    if (execution === undefined) return
    const job = this.job(execution.job)
    const found = this.find(textOf(completion.trigger.key))
    const own = found !== undefined && textOf(found.trigger.jobKey) === execution.job ? found : undefined
    const deletes = own !== undefined && !isBack(own, completion) && endsWithIts(completion)
    this.#carryOut(completion, own, execution.job)
    if (deletes) this.triggers = this.triggers.filter((each) => each !== own)
    this.executions = this.executions.filter((each) => each !== execution)
    if (job !== undefined) {
      const { jobDataMap, retryTrigger } = completion
      if (jobDataMap !== null) this.#putJob({ ...job, jobDataMap: dataLeft(job, completion, jobDataMap) })
      if (retryTrigger !== null) this.#putTrigger(retryTrigger)
      if (deletes) this.#removeOrphan(execution.job)
    }
    this.#settle()
  }

  // ---- changing

  #underCalendar(trigger: Trigger): Trigger {
    const calendar = this.calendarNamed(trigger.calendarName)
    if (calendar === undefined) throw new Refusal('ERR_CALENDAR_NOT_FOUND')
    const placed = firstUnderCalendar(trigger, calendar, this.nowMs)
    if (placed === null) throw new Refusal('ERR_TRIGGER_NEVER_FIRES')
    return placed
  }

  #putJob(job: JobDetail): void {
    const old = this.job(textOf(job.key))
    this.jobs = [...this.jobs.filter((each) => each !== old), job]
    if (old === undefined) return
    // Another kind of job is claimed in another way, so claims begin anew.
    const changesKind =
      old.disallowConcurrentExecution !== job.disallowConcurrentExecution || old.jobType !== job.jobType
    if (!changesKind) return
    for (const each of this.triggersOf(textOf(job.key))) {
      if (each.state === 'ACQUIRED') each.state = 'WAITING'
      each.claim = null
    }
  }

  /** Answers the job of the trigger that was replaced. */
  #putTrigger(trigger: Trigger): string[] {
    const { group } = trigger.key
    if (this.pausesNewGroups && trigger.nextFireTimeMs !== null && !this.triggerGroups().includes(group)) {
      this.pausedTriggerGroups = [...new Set([...this.pausedTriggerGroups, group])]
    }
    const old = this.find(textOf(trigger.key))
    const paused = this.isGroupPaused(trigger) ? 'PAUSED' : 'WAITING'
    const state = trigger.nextFireTimeMs === null ? 'COMPLETE' : paused
    this.triggers = [...this.triggers.filter((each) => each !== old), { trigger, state, claim: null }]
    return old === undefined ? [] : [textOf(old.trigger.jobKey)]
  }

  #removeOrphan(key: string): void {
    const job = this.job(key)
    if (job === undefined || job.durable || this.triggersOf(key).length > 0) return
    this.jobs = this.jobs.filter((each) => each !== job)
    this.told.push(`job deleted ${key}`)
  }

  #pause(triggers: readonly ModelTrigger[]): void {
    for (const each of triggers) {
      if (each.state === 'WAITING' || each.state === 'ACQUIRED') each.state = 'PAUSED'
      if (each.state === 'BLOCKED') each.state = 'PAUSED_BLOCKED'
      each.claim = null
    }
  }

  #resume(triggers: readonly ModelTrigger[]): void {
    for (const each of triggers) {
      if (each.state !== 'PAUSED' && each.state !== 'PAUSED_BLOCKED') continue
      if (each.trigger.nextFireTimeMs === null) this.#finalize(each)
      else each.state = 'WAITING'
      if (this.isMisfired(each.trigger)) this.#applyMisfire(each)
    }
    this.#settle()
  }

  #applyMisfire(each: ModelTrigger): void {
    this.told.push(`misfired ${textOf(each.trigger.key)}`)
    const calendar = this.calendarOf(each)
    if (calendar === undefined) return
    each.trigger = each.trigger.updateAfterMisfire(calendar, this.nowMs)
    if (each.trigger.nextFireTimeMs === null) this.#finalize(each)
  }

  #finalize(each: ModelTrigger): void {
    each.state = 'COMPLETE'
    this.told.push(`finalized ${textOf(each.trigger.key)}`)
  }

  #recompute(each: ModelTrigger, calendar: Calendar, old: Calendar | undefined): void {
    const updated = underReplacedCalendar(each.trigger, calendar, {
      old,
      nowMs: this.nowMs,
      misfireThresholdMs: this.misfireThresholdMs,
    })
    if (each.state === 'COMPLETE') {
      if (each.trigger.nextFireTimeMs !== null || updated.nextFireTimeMs === null) return
      each.trigger = updated
      each.state = this.isGroupPaused(updated) ? 'PAUSED' : 'WAITING'
      return
    }
    each.trigger = updated
    if (each.state === 'ERROR') return
    each.claim = null
    if (each.state === 'ACQUIRED') each.state = 'WAITING'
    // A pause lasts until somebody resumes the trigger: the next calendar may give it a time again.
    const isPaused = each.state === 'PAUSED' || each.state === 'PAUSED_BLOCKED'
    if (updated.nextFireTimeMs === null && !isPaused) this.#finalize(each)
  }

  #carryOut(completion: JobCompletion, own: ModelTrigger | undefined, job: string): void {
    const { instruction } = completion
    const isForAll = instruction === 'setAllJobTriggersComplete' || instruction === 'setAllJobTriggersError'
    const reached = isForAll ? this.triggersOf(job) : own === undefined ? [] : [own]
    for (const each of reached) {
      if (each === own && isBack(own, completion) && !instruction.endsWith('Error')) continue
      if (instruction === 'setTriggerComplete' || instruction === 'setAllJobTriggersComplete') {
        each.state = 'COMPLETE'
        each.claim = null
      }
      if (instruction === 'setTriggerError' || instruction === 'setAllJobTriggersError') {
        if (each.state !== 'ERROR') this.told.push(`in error ${textOf(each.trigger.key)}`)
        each.state = 'ERROR'
        each.claim = null
      }
    }
  }

  /** A trigger is blocked exactly while its job forbids concurrent execution and runs. */
  #settle(): void {
    for (const each of this.triggers) {
      const key = textOf(each.trigger.jobKey)
      const isRunning = this.executions.some(({ job }) => job === key)
      if (isRunning && this.job(key)?.disallowConcurrentExecution === true) {
        if (each.state === 'WAITING' || each.state === 'ACQUIRED') each.state = 'BLOCKED'
        if (each.state === 'PAUSED') each.state = 'PAUSED_BLOCKED'
        if (each.state === 'BLOCKED') each.claim = null
      } else {
        if (each.state === 'BLOCKED') each.state = 'WAITING'
        if (each.state === 'PAUSED_BLOCKED') each.state = 'PAUSED'
      }
    }
  }
}

/** A trigger that `triggerJob` made, or a retry, is not kept as complete. */
function endsWithIts({ instruction, trigger: { key, jobDataMap, nextFireTimeMs } }: JobCompletion): boolean {
  if (instruction === 'deleteTrigger') return true
  if (nextFireTimeMs !== null || !instruction.endsWith('Complete')) return false
  if (key.group === 'RETRYING_JOBS') return Object.keys(jobDataMap).some((name) => name.startsWith('QRTZ_'))
  return key.group === 'DEFAULT' && key.name.startsWith('MT_')
}

function isBack(own: ModelTrigger, completion: JobCompletion): boolean {
  return completion.trigger.nextFireTimeMs === null && own.trigger.nextFireTimeMs !== null
}
