import { createHash } from 'node:crypto'
import { retryingJobsGroup } from '../../src/core/key.ts'
import { isMadeByScheduler } from '../../src/jobstore/own-triggers.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { SimpleTrigger } from '../../src/triggers/families/simple/simple-trigger.ts'
import { plannedFireTimeMs, type Trigger } from '../../src/triggers/trigger.ts'
import { firstUnderCalendar } from './first-under-calendar.ts'
import { type HistoryEvent, lineOf } from './history.ts'
import { underReplacedCalendar } from './replaced-calendar.ts'

export interface CheckerRules {
  readonly misfireThresholdMs: number
  /** Slots of the thread pool: when all are taken, triggers wait. Infinite when unknown. */
  readonly poolSize: number
  /** How late a trigger may be when nothing stands in its way; null to leave lateness alone. */
  readonly latenessMaxMs: number | null
  /** How many events before the first violation are kept for people to read. Default 80. */
  readonly tailLength?: number
}

/** What the model knows about one stored trigger, from the moment it was stored until it is gone. */
export interface Life {
  /** What the trigger must be now, computed from what happened and not from what the store says. */
  trigger: Trigger
  readonly jobKey: string
  readonly storedAtMs: number
  /** `ended`: an instruction ended it; `error`: it fires no more until it is reset. */
  status: 'live' | 'ended' | 'error'
  /** Planned instants that have an outcome. */
  readonly outcomes: Map<number, string>
}

interface Firing {
  readonly id: string
  readonly life: Life
  /** What its job was when it fired: jobs can be replaced by another kind. */
  readonly nonConcurrent: boolean
  readonly jobType: string | null
  runs: number
  running: boolean
  vetoed: boolean
  lost: boolean
  completed: boolean
}

interface JobModel {
  exists: boolean
  jobType: string | null
  nonConcurrent: boolean
  open: number
  readonly running: Set<string>
  freeSinceMs: number
}

const unknownJob = { exists: false, jobType: null, nonConcurrent: false, open: 0 }

const skipped = 'skipped by its misfire policy'

/**
 * Holds a history against a model of every trigger: each planned instant has exactly one outcome, no firing is early
 * or outside the series, misfire policies are applied when and as they must be, non-concurrent jobs never overlap,
 * nothing is late without a reason, and nothing fires in standby or after a halt.
 */
export class HistoryChecker {
  readonly violations: string[] = []
  readonly lives: Map<string, Life> = new Map()
  readonly #rules: CheckerRules
  readonly #tailLength: number
  readonly #jobs = new Map<string, JobModel>()
  readonly #firings = new Map<string, Firing>()
  readonly #calendars = new Map<string, Calendar>()
  readonly #tail: HistoryEvent[] = []
  readonly #fingerprint = createHash('sha1')
  #tailOfFirst: readonly HistoryEvent[] | null = null
  /** Firings that hold a slot of the thread pool. */
  readonly #taken = new Set<string>()
  #mode: 'started' | 'standby' | 'halted' | 'cutOff' = 'standby'
  #quietSinceMs = Number.NEGATIVE_INFINITY
  runCount = 0
  firedCount = 0
  misfireCount = 0

  constructor(rules: CheckerRules) {
    this.#rules = rules
    this.#tailLength = rules.tailLength ?? 80
  }

  observe(event: HistoryEvent): void {
    this.#fingerprint.update(`${event.atMs} ${event.kind} ${identityOf(event)}\n`)
    this.#tail.push(event)
    if (this.#tail.length > 2 * this.#tailLength) this.#tail.splice(0, this.#tailLength)
    switch (event.kind) {
      case 'jobStored':
        this.#storeJob(event)
        break
      case 'jobRemoved':
        this.#removeJob(event.jobKey)
        break
      case 'cleared':
        for (const jobKey of this.#jobs.keys()) this.#removeJob(jobKey)
        break
      case 'stored':
        this.#store(event.trigger, event.atMs)
        break
      case 'removed':
        this.lives.delete(event.triggerKey)
        break
      case 'calendar':
        this.#changeCalendar(event)
        break
      case 'misfired':
        this.#misfire(event)
        break
      case 'fired':
        this.#fire(event)
        break
      case 'reset':
        this.#reset(event.triggerKey)
        break
      case 'completed':
        this.#complete(event)
        break
      case 'slotFreed':
        this.#freeSlot(event.fireInstanceId, event.atMs)
        break
      case 'acquired':
        if (this.#mode === 'halted') this.#wrong(event, `${event.triggerKey} was acquired after the halt`)
        break
      case 'schedulerStarted':
        this.#mode = 'started'
        this.#disturb(event.atMs)
        break
      case 'schedulerStandby':
        this.#mode = 'standby'
        break
      case 'schedulerHalted':
        this.#mode = 'halted'
        break
      case 'storeCutOff':
        this.#mode = 'cutOff'
        break
      case 'disturbed':
        this.#disturb(event.untilMs)
        break
      case 'jumped':
        this.#quietSinceMs = Math.max(event.untilMs, this.#quietSinceMs + event.byMs)
        break
      default:
        this.#observeRun(event)
    }
  }

  /** The job of a firing, or null when there is no such firing. */
  jobKeyOf(fireInstanceId: string): string | null {
    return this.#firings.get(fireInstanceId)?.life.jobKey ?? null
  }

  stateOf(jobKey: string): {
    readonly nonConcurrent: boolean
    readonly isOpen: boolean
    readonly executing: number
  } {
    const { nonConcurrent, open, running } = this.#job(jobKey)
    return { nonConcurrent, isOpen: open > 0, executing: running.size }
  }

  /** The firings that the store was never told the end of. */
  openFirings(): readonly string[] {
    return [...this.#firings.values()].filter((firing) => !firing.completed).map((firing) => firing.id)
  }

  /** Adds a finding of the caller's own. */
  report(message: string): void {
    this.#tailOfFirst ??= [...this.#tail]
    this.violations.push(message)
  }

  /** Stands for the whole history: equal histories have equal ones. */
  fingerprint(): string {
    return this.#fingerprint.copy().digest('hex')
  }

  /** The events before the first violation, one per line. */
  tail(): string {
    return (this.#tailOfFirst ?? this.#tail).slice(-this.#tailLength).map(lineOf).join('\n')
  }

  #wrong(event: HistoryEvent, message: string): void {
    this.#tailOfFirst ??= [...this.#tail]
    this.violations.push(`${message} [${lineOf(event)}]`)
  }

  #job(jobKey: string): JobModel {
    let job = this.#jobs.get(jobKey)
    if (job === undefined) {
      job = { ...unknownJob, running: new Set(), freeSinceMs: Number.NEGATIVE_INFINITY }
      this.#jobs.set(jobKey, job)
    }
    return job
  }

  /** Retries that wait are of the job that failed: they go when one of another type takes its place. */
  #storeJob({ jobKey, jobType, nonConcurrent, atMs }: HistoryEvent & { kind: 'jobStored' }): void {
    const job = this.#job(jobKey)
    if (job.exists && job.jobType !== jobType) {
      for (const [key, { jobKey: of, trigger }] of this.lives) {
        const isRetry = of === jobKey && trigger.key.group === retryingJobsGroup
        if (isRetry && trigger.nextFireTimeMs !== null) this.lives.delete(key)
      }
    }
    Object.assign(job, { exists: true, jobType, nonConcurrent, freeSinceMs: atMs })
  }

  #removeJob(jobKey: string): void {
    this.#job(jobKey).exists = false
    for (const [key, life] of this.lives) if (life.jobKey === jobKey) this.lives.delete(key)
  }

  #disturb(untilMs: number): void {
    this.#quietSinceMs = Math.max(this.#quietSinceMs, untilMs)
  }

  #calendarOf(trigger: Trigger): Calendar | null {
    return trigger.calendarName === null ? null : (this.#calendars.get(trigger.calendarName) ?? null)
  }

  #store(trigger: Trigger, atMs: number): void {
    const placed = firstUnderCalendar(trigger, this.#calendarOf(trigger), atMs)
    if (placed === null) throw new Error(`the store took ${trigger.key.toString()}, which never fires`)
    this.lives.set(trigger.key.toString(), {
      trigger: placed,
      jobKey: String(trigger.jobKey),
      storedAtMs: atMs,
      status: 'live',
      outcomes: new Map(),
    })
  }

  #changeCalendar(event: HistoryEvent & { kind: 'calendar' }): void {
    const old = this.#calendars.get(event.name)
    this.#calendars.set(event.name, event.calendar)
    if (!event.updateTriggers) return
    for (const life of this.lives.values()) {
      if (life.trigger.calendarName !== event.name) continue
      const { misfireThresholdMs } = this.#rules
      const replaced = { old, nowMs: event.atMs, misfireThresholdMs }
      const updated = underReplacedCalendar(life.trigger, event.calendar, replaced)
      if (life.status !== 'error' && life.trigger.nextFireTimeMs === null) {
        // It had come to its end under the old calendar, and goes on if the new one leaves it a time.
        if (updated.nextFireTimeMs === null) continue
        life.status = 'live'
      } else if (life.status === 'ended') continue
      life.trigger = updated
      reopenSkipped(life)
    }
  }

  #reset(triggerKey: string): void {
    const life = this.lives.get(triggerKey)
    if (life?.status === 'error') life.status = 'live'
  }

  #misfire(event: HistoryEvent & { kind: 'misfired' }): void {
    const { trigger, atMs } = event
    this.misfireCount++
    const life = this.lives.get(trigger.key.toString())
    if (life === undefined) {
      this.#wrong(event, 'a trigger that is not stored misfired')
      return
    }
    const dueMs = life.trigger.nextFireTimeMs
    if (dueMs === null || dueMs !== trigger.nextFireTimeMs) {
      this.#wrong(
        event,
        `the store holds another next fire time than the model (${String(dueMs)}, ${life.status})`,
      )
      return
    }
    if (atMs - dueMs < this.#rules.misfireThresholdMs || trigger.misfireInstruction === 'ignore') {
      this.#wrong(event, 'a misfire policy was applied to a trigger that is not late')
    }
    const plannedMs = plannedFireTimeMs(life.trigger)
    life.trigger = life.trigger.updateAfterMisfire(this.#calendarOf(life.trigger), atMs)
    // A policy that fires now keeps the planned instant for that firing; any other skips it.
    if (plannedMs !== null && plannedFireTimeMs(life.trigger) !== plannedMs) {
      this.#settle(event, life, plannedMs, skipped)
    }
  }

  #fire(event: HistoryEvent & { kind: 'fired' }): void {
    const { trigger, fireInstanceId, plannedMs, atMs } = event
    this.firedCount++
    const life = this.lives.get(trigger.key.toString())
    if (life === undefined || life.status !== 'live' || life.trigger.nextFireTimeMs === null) {
      this.#wrong(event, 'a trigger fired that is not there to fire')
      return
    }
    const model = life.trigger
    const dueMs = life.trigger.nextFireTimeMs
    if (this.#mode !== 'started' && this.#mode !== 'cutOff')
      this.#wrong(event, `a trigger fired although the scheduler is ${this.#mode}`)
    if (event.decidedAtMs < dueMs) this.#wrong(event, `fired ${dueMs - event.decidedAtMs} ms early`)
    if (plannedMs !== plannedFireTimeMs(model)) {
      this.#wrong(event, `fired for another instant than the planned ${String(plannedFireTimeMs(model))}`)
    }
    const latenessMs = event.decidedAtMs - dueMs
    if (latenessMs >= this.#rules.misfireThresholdMs && model.misfireInstruction !== 'ignore') {
      this.#wrong(event, `fired ${latenessMs} ms late, past its misfire policy`)
    }
    this.#settle(event, life, plannedMs, `firing ${fireInstanceId}`)
    life.trigger = model.triggered(this.#calendarOf(model))
    const expectedMs = nextOfSeries(model, this.#calendarOf(model))
    if (trigger.nextFireTimeMs !== expectedMs || life.trigger.nextFireTimeMs !== expectedMs) {
      this.#wrong(event, `the next fire time should be ${String(expectedMs)}`)
    }
    this.#checkLateness(event, life, dueMs)
    const job = this.#job(life.jobKey)
    if (job.nonConcurrent && job.open > 0) this.#wrong(event, `non-concurrent job ${life.jobKey} fired twice`)
    job.open++
    this.#taken.add(fireInstanceId)
    if (this.#taken.size >= this.#rules.poolSize) this.#disturb(atMs)
    this.#firings.set(fireInstanceId, {
      id: fireInstanceId,
      life,
      nonConcurrent: job.nonConcurrent,
      jobType: job.jobType,
      runs: 0,
      running: false,
      vetoed: false,
      lost: false,
      completed: false,
    })
  }

  #checkLateness(event: HistoryEvent & { kind: 'fired' }, life: Life, dueMs: number): void {
    const { latenessMaxMs } = this.#rules
    if (latenessMaxMs === null || event.jumpedMeanwhile) return
    const latenessMs = event.decidedAtMs - this.#availableSinceMs(life, dueMs)
    if (latenessMs > latenessMaxMs) {
      this.#wrong(event, `fired ${latenessMs} ms late although nothing stood in its way`)
    }
  }

  /** Whether a trigger waits although nothing stands in its way. */
  isOverdue(life: Life, nowMs: number): boolean {
    const dueMs = life.trigger.nextFireTimeMs
    return dueMs !== null && nowMs - this.#availableSinceMs(life, dueMs) > (this.#rules.latenessMaxMs ?? 0)
  }

  #availableSinceMs(life: Life, dueMs: number): number {
    return Math.max(dueMs, life.storedAtMs, this.#job(life.jobKey).freeSinceMs, this.#quietSinceMs)
  }

  #observeRun(event: HistoryEvent & { kind: 'lost' | 'vetoed' | 'started' | 'ended' }): void {
    const firing = this.#firings.get(event.fireInstanceId)
    if (firing === undefined) {
      this.#wrong(event, 'an execution without a firing')
      return
    }
    if (event.kind === 'lost') {
      firing.lost = true
      this.#freeSlot(firing.id, event.atMs)
      return
    }
    if (firing.lost) this.#wrong(event, 'a firing that was reported as lost was run')
    if (firing.completed) this.#wrong(event, 'a firing that had ended was run')
    if (event.kind === 'started') this.#start(event, firing)
    else {
      // The slot is free from here on, or, when the store lags behind, as soon as it is told.
      if (this.#taken.size >= this.#rules.poolSize) this.#disturb(event.atMs)
      if (event.kind === 'vetoed') firing.vetoed = true
      else this.#end(firing)
    }
  }

  #start(event: HistoryEvent & { kind: 'started' }, firing: Firing): void {
    const job = this.#job(firing.life.jobKey)
    this.runCount++
    if (firing.vetoed) this.#wrong(event, 'a vetoed firing was run')
    if (firing.running) this.#wrong(event, 'a firing runs twice at once')
    if (event.refireCount !== firing.runs) this.#wrong(event, `this should be refire ${firing.runs}`)
    const isRetry = firing.life.trigger.key.group === retryingJobsGroup
    if (isRetry !== event.attempt > 1)
      this.#wrong(event, `attempt ${event.attempt} of the wrong kind of trigger`)
    if (firing.nonConcurrent && job.nonConcurrent && job.running.size > 0) {
      this.#wrong(event, `non-concurrent job overlaps itself: ${[...job.running].join(', ')} still runs`)
    }
    firing.runs++
    firing.running = true
    job.running.add(firing.id)
  }

  #end(firing: Firing): void {
    firing.running = false
    this.#job(firing.life.jobKey).running.delete(firing.id)
  }

  #complete(event: HistoryEvent & { kind: 'completed' }): void {
    const firing = this.#firings.get(event.fireInstanceId)
    // Told again, or about a claim that never fired: nothing may come of it.
    if (firing === undefined || firing.completed) return
    if (firing.running) this.#wrong(event, 'the store was told of the end of a job that still runs')
    firing.completed = true
    const { jobKey } = firing.life
    const job = this.#job(jobKey)
    job.open--
    job.freeSinceMs = event.atMs
    this.#carryOut(event, jobKey)
    const isOfType = job.exists && job.jobType === firing.jobType
    if (event.retryTrigger !== null && isOfType) this.#store(event.retryTrigger, event.atMs)
  }

  #freeSlot(fireInstanceId: string, atMs: number): void {
    if (this.#taken.size >= this.#rules.poolSize) this.#disturb(atMs)
    this.#taken.delete(fireInstanceId)
  }

  #carryOut(event: HistoryEvent & { kind: 'completed' }, jobKey: string): void {
    const triggerKey = event.trigger.key.toString()
    const current = this.lives.get(triggerKey)
    const own = current?.jobKey === jobKey ? current : null
    const wasLast = event.trigger.nextFireTimeMs === null
    const isBack = wasLast && own !== null && own.trigger.nextFireTimeMs !== null
    const end = (life: Life | null): void => {
      if (life === null || (life === own && isBack)) return
      const waits = life.trigger.nextFireTimeMs !== null || life.status === 'error'
      const isOver = life === own ? wasLast : waits
      // One that the scheduler made is not kept, unless it runs.
      if (isOver && isMadeByScheduler(life.trigger)) this.lives.delete(life.trigger.key.toString())
      else life.status = 'ended'
    }
    const all = [...this.lives.values()].filter((life) => life.jobKey === jobKey)
    switch (event.instruction) {
      case 'deleteTrigger':
        if (own !== null && own.trigger.nextFireTimeMs === null) this.lives.delete(triggerKey)
        break
      case 'setTriggerComplete':
        end(own)
        break
      case 'setTriggerError':
        if (own !== null) own.status = 'error'
        break
      case 'setAllJobTriggersComplete':
        for (const life of all) end(life)
        break
      case 'setAllJobTriggersError':
        for (const life of all) life.status = 'error'
        break
      default:
        break
    }
  }

  /** Notes the one outcome of a planned instant. */
  #settle(event: HistoryEvent, life: Life, plannedMs: number, outcome: string): void {
    const before = life.outcomes.get(plannedMs)
    if (before !== undefined) this.#wrong(event, `planned instant ${plannedMs} had its outcome: ${before}`)
    life.outcomes.set(plannedMs, outcome)
  }
}

function identityOf(event: HistoryEvent): string {
  if ('fireInstanceId' in event) return event.fireInstanceId
  if ('trigger' in event) return `${event.trigger.key.toString()} ${String(event.trigger.nextFireTimeMs)}`
  return 'triggerKey' in event ? event.triggerKey : ''
}

/** A new calendar plans again from the last firing on: what a policy had skipped may come back. */
function reopenSkipped(life: Life): void {
  const nextMs = life.trigger.nextFireTimeMs ?? Number.POSITIVE_INFINITY
  for (const [plannedMs, outcome] of life.outcomes) {
    if (outcome === skipped && plannedMs >= nextMs) life.outcomes.delete(plannedMs)
  }
}

/** So many excluded instants in a row mean that a schedule and its calendar never meet. */
const neverAfter = 100_000

/** The instant after the one that a trigger fires for now, computed the plain way. */
export function nextOfSeries(trigger: Trigger, calendar: Calendar | null): number | null {
  let nextMs = trigger.nextFireTimeMs
  for (let passed = 0; nextMs !== null && passed < neverAfter; passed++) {
    nextMs = plainNext(trigger, nextMs)
    if (nextMs === null || calendar === null || calendar.isTimeIncluded(nextMs)) return nextMs
  }
  return null
}

function plainNext(trigger: Trigger, afterMs: number): number | null {
  const fired = trigger.timesTriggered + 1
  if (!(trigger instanceof SimpleTrigger)) return trigger.fireTimeAfterMs(afterMs, fired)
  const { startTimeMs, endTimeMs, repeatCount, repeatIntervalMs } = trigger
  if (repeatCount >= 0 && fired > repeatCount) return null
  const intervals = Math.max(0, Math.ceil((afterMs + 1 - startTimeMs) / repeatIntervalMs))
  if (repeatCount >= 0 && intervals > repeatCount) return null
  const nextMs = startTimeMs + intervals * repeatIntervalMs
  return endTimeMs !== null && nextMs >= endTimeMs ? null : nextMs
}
