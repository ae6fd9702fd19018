import { JobPersistenceError } from '../core/errors.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobPlan } from '../jobs/job-plan.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import { CronTrigger } from '../triggers/families/cron/cron-trigger.ts'
import {
  SimpleScheduleBuilder,
  SimpleTrigger,
  type SimpleTriggerFields,
} from '../triggers/families/simple/simple-trigger.ts'
import { int32Max } from '../triggers/invalid-trigger.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { changedData, hasSameData } from './planned-data.ts'
import { firedOnce, neverFires } from './refusals.ts'
import { underCalendar } from './under-calendar.ts'

/** A job with its one trigger, as they were declared. Both have the same name and group. */
export interface PlannedJob {
  readonly job: JobDetail & { readonly plan: JobPlan }
  /** With its first fire time. */
  readonly trigger: Trigger
  /**
   * Where it begins when it replaces another trigger: at the start or instant that was declared; at what is due there,
   * so that no later instant is left out; or with its intervals from the last fire there, or from the start.
   */
  readonly goesOnFrom: 'start' | 'due' | 'lastFire'
  /** Its instants have all passed when it is declared, its only one for too long: it is stored without a trigger. */
  readonly isPast: boolean
}

/**
 * What became of a declared job. `newer`: a later generation of its set declared it, or is in force, so it was left
 * alone.
 */
export type PlanOutcome = 'added' | 'changed' | 'unchanged' | 'newer'

/** A set of schedules, and how often it had changed. */
export interface SetGeneration {
  readonly set: string
  readonly generation: number
}

/** What is stored under the keys of a declared job. */
export interface StoredPlan {
  readonly job: JobDetail | null
  readonly trigger: Trigger | null
  /** Whether the trigger is in a state that `resume` leaves. */
  readonly isPaused: boolean
}

/** What a store writes for a declared job. */
export interface PlanChange {
  readonly outcome: PlanOutcome
  /** Null: the job stays as it is. */
  readonly job: JobDetail | null
  /** Null: the trigger stays as it is. It goes over the stored one, whose pause it keeps. */
  readonly trigger: Trigger | null
  /** The stored trigger is deleted. */
  readonly dropsTrigger: boolean
  /** What is to run a failed firing of the stored trigger again, and does not run yet, is deleted. */
  readonly dropsRetries: boolean
}

/** The answer of `putPlanned`. */
export interface PutPlan extends PlanChange {
  readonly nextFireTimeMs: EpochMs | null
}

const untouched = { job: null, trigger: null, dropsTrigger: false, dropsRetries: false }

/** What a declaration meets in its store. */
export interface PlanCircumstances {
  /** Of the trigger; null where it has none. */
  readonly calendar: Calendar | null
  readonly nowMs: EpochMs
  /**
   * The generation of the set that is in force by its note (`generationInForce`), which does not change until the job
   * is stored. 0 for a job of no set.
   */
  readonly inForce: number
}

/**
 * Decides what declaring a job changes. What was declared the same before is left alone: the phase and the progress of
 * its trigger, its pause, and the data that the job has stored. A store calls it with both rows and the note locked.
 *
 * @throws JobPersistenceError ERR_OBJECT_ALREADY_EXISTS when the job belongs to another set
 */
export function planChange(
  stored: StoredPlan,
  declared: PlannedJob,
  { calendar, nowMs, inForce }: PlanCircumstances,
): PlanChange {
  // A generation that has taken the job out does not look for it any more.
  if (inForce > declared.job.plan.generation) return { outcome: 'newer', ...untouched }
  const planned = declared.isPast
    ? declared
    : { ...declared, trigger: underCalendar(declared.trigger, calendar, nowMs) }
  const { plan } = planned.job
  const before = stored.job?.plan ?? null
  refuseOtherSet(planned, before)
  const fresh = planned.isPast ? null : planned.trigger
  if (stored.job === null || forgets(stored, planned.job)) {
    const isNew = stored.job === null
    const jobDataMap = isNew
      ? planned.job.jobDataMap
      : changedData(stored.job.jobDataMap, before, planned.job)
    const job = { ...planned.job, jobDataMap, plan: withFired(plan, null, fresh?.finalFireTimeMs()) }
    const change = { job: Object.freeze(job), trigger: fresh, dropsTrigger: false, dropsRetries: !isNew }
    return { ...change, outcome: isNew ? 'added' : 'changed' }
  }
  if (before !== null && before.set === plan.set && before.generation > plan.generation) {
    return { outcome: 'newer', ...untouched }
  }
  const changesWhen = before?.when !== plan.when || isMissing(stored.trigger, fresh)
  const isSame = before?.job === plan.job && !changesWhen && hasSameData(before, plan)
  const keepsMark = before?.set === plan.set && before.generation === plan.generation
  if (isSame && keepsMark) return { outcome: 'unchanged', ...untouched }
  const fired = changesWhen ? firedBefore(before, stored.trigger, nowMs) : (before.fired ?? null)
  // Where somebody deleted the trigger it begins anew.
  const next = { ...planned, calendar, nowMs, before, fired: before?.when === plan.when ? null : fired }
  const goesOn = changesWhen ? goingOn(stored.trigger, next) : null
  const trigger = goesOn ?? (changesWhen ? withoutTimeLeft(stored, planned) : null)
  const job = {
    ...planned.job,
    jobDataMap: changedData(stored.job.jobDataMap, before, planned.job),
    plan: withFired(plan, fired, changesWhen ? goesOn?.finalFireTimeMs() : before.final),
  }
  return {
    outcome: isSame ? 'unchanged' : 'changed',
    job: Object.freeze(job),
    trigger,
    // A job that is not durable goes with its trigger, at the end of the run.
    dropsTrigger: changesWhen && trigger === null && stored.trigger !== null && job.durable,
    dropsRetries: goesOn !== null && isMoved(before, plan),
  }
}

/**
 * A job that is over, which was kept so that it does not run again, and is not to be kept any more. Its data are: it
 * may have other triggers, and has stored them itself.
 */
function forgets({ job, trigger, isPaused }: StoredPlan, planned: JobDetail): boolean {
  const isOver = trigger === null || (isPaused && trigger.nextFireTimeMs === null)
  return job?.durable === true && !planned.durable && isOver
}

/**
 * The trigger where none goes on. A job that is not durable has no former times: unless it runs, or is tried again, it
 * begins anew, as when the calendar does not leave the instant of its first declaration.
 */
function withoutTimeLeft({ trigger, isPaused }: StoredPlan, planned: PlannedJob): Trigger | null {
  if (planned.job.durable) return isPaused ? pausedWhenOver(planned) : null
  return trigger !== null && (isPaused || trigger.nextFireTimeMs !== null) ? planned.trigger : null
}

/**
 * Whether a set declared the job, and in no generation after the named one. A store calls it with the row of the job
 * locked.
 */
export function isDeclaredUpTo(job: JobDetail | undefined, { set, generation }: SetGeneration): boolean {
  const plan = job?.plan ?? null
  return plan !== null && plan.set === set && plan.generation <= generation
}

/** The next fire time of a declared job once a change was carried out. */
export function nextFireTimeMsAfter(change: PlanChange, stored: Trigger | null): EpochMs | null {
  const trigger = change.dropsTrigger ? null : (change.trigger ?? stored)
  return trigger?.nextFireTimeMs ?? null
}

/**
 * A pause is of the key, until somebody resumes or deletes it. So while the schedule is over, its trigger stays paused
 * without a fire time; resumed, it is complete.
 */
function pausedWhenOver({ trigger }: PlannedJob): Trigger {
  return trigger.withFireState({
    nextFireTimeMs: null,
    previousFireTimeMs: null,
    timesTriggered: 0,
    misfiredFireTimeMs: null,
  })
}

/** The last fire time under the key: a job that runs once, or is over, has no trigger that tells it. */
function firedBefore(before: JobPlan | null, stored: Trigger | null, nowMs: EpochMs): EpochMs | null {
  const { final, fired } = before ?? {}
  const isOver = (stored?.nextFireTimeMs ?? null) === null
  const times = [fired, isOver ? final : null, stored?.previousFireTimeMs]
  const known = times.flatMap((ms) => (typeof ms === 'number' && ms <= nowMs ? [ms] : []))
  return known.length === 0 ? null : Math.max(...known)
}

function withFired(plan: JobPlan, fired: EpochMs | null, final: EpochMs | null = null): JobPlan {
  const times = { ...(fired !== null && { fired }), ...(final !== null && { final }) }
  return Object.freeze({ ...plan, ...times })
}

/** Whether the instant of `at` has run. What runs after a time has a new instant each time it is declared. */
function hasRun({ job, trigger: { startTimeMs }, goesOnFrom, fired }: Next): boolean {
  if (job.plan.instant === undefined || !job.durable) return false
  return goesOnFrom === 'start' && fired !== null && startTimeMs <= fired
}

function refuseOtherSet({ job }: PlannedJob, before: JobPlan | null): void {
  if (before === null || before.set === null || before.set === job.plan.set) return
  throw new JobPersistenceError(
    `Job '${job.key.toString()}' belongs to the schedules '${before.set}'. Change it there, use another key, ` +
      `or, when no program declares that set any more, empty it with reconcile('${before.set}', []).`,
    { code: 'ERR_OBJECT_ALREADY_EXISTS' },
  )
}

/** A schedule without an end has a trigger unless somebody deleted it; one with an end may be over. */
function isMissing(stored: Trigger | null, planned: Trigger | null): boolean {
  return stored === null && planned !== null && !isOnce(planned) && planned.endTimeMs === null
}

/** Whether the schedule has a single fire time; an interval whose end leaves one goes on from what has fired. */
function isOnce(trigger: Trigger): boolean {
  if (trigger instanceof SimpleTrigger) return trigger.repeatCount === 0
  const { startTimeMs } = trigger
  if (trigger.endTimeMs !== null) return false
  // A second fire is near, and the last one of many is far to seek.
  if (trigger.countsFires() && trigger.fireTimeAfterMs(startTimeMs, 1) !== null) return false
  return trigger.finalFireTimeMs() === startTimeMs
}

function isSameInstant(before: JobPlan | null, { instant }: JobPlan): boolean {
  return instant !== undefined && before?.instant === instant
}

/** Whether what runs once has another instant, which takes the place of the one whose run may have failed. */
function isMoved(before: JobPlan | null, plan: JobPlan): boolean {
  return plan.instant !== undefined && before?.instant !== undefined && !isSameInstant(before, plan)
}

/**
 * The new trigger in place of the stored one. What was due and has not fired stays due, so that the misfire policy of
 * the new trigger decides; for a schedule with one instant that instant alone counts. Null when it is over: its
 * instants have passed, or from where it goes on no fire time is left before its end.
 */
function goingOn(stored: Trigger | null, planned: Next): Trigger | null {
  if (hasRun(planned)) return null
  if (isSameInstant(planned.before, planned.job.plan)) return atSameInstant(stored, planned)
  if (planned.isPast && !isDueStill(stored, planned)) return null
  const trigger = placed(stored, planned)
  return trigger.nextFireTimeMs === null ? null : trigger
}

/** Whether a series has a fire time that has not fired, before the end that the new trigger has had. */
function isDueStill(stored: Trigger | null, { trigger, nowMs }: Replacement): boolean {
  const dueMs = stored?.nextFireTimeMs ?? null
  if (stored === null || dueMs === null || isOnce(stored) || isOnce(trigger)) return false
  return dueMs <= nowMs && dueMs <= (trigger.endTimeMs ?? dueMs)
}

/** What runs once does so at the instant of its first declaration; null when it has. */
function atSameInstant(stored: Trigger | null, { trigger, calendar }: Replacement): Trigger | null {
  if (stored === null || stored.nextFireTimeMs === null) return null
  const moved = startingAt(trigger, stored.startTimeMs, calendar)
  return moved.nextFireTimeMs === null ? null : moved
}

/** A trigger that takes the place of another one, under its calendar. */
export type Replacement = Pick<PlannedJob, 'trigger' | 'goesOnFrom'> & {
  readonly calendar: Calendar | null
  readonly nowMs: EpochMs
}

interface Next extends Replacement, PlannedJob {
  readonly before: JobPlan | null
  readonly fired: EpochMs | null
}

/**
 * A trigger as it takes the place of a stored one, instead of beginning anew. What was due and has not fired stays due,
 * unless the trigger begins at its own start; for a schedule with one instant that instant alone counts. A trigger that
 * is over, also one that its job ended, goes on with its next time after now: nothing is made up for.
 *
 * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES when from where it goes on no fire time is left before its end
 */
export function inPlaceOf(stored: Trigger, planned: Replacement): Trigger {
  if (planned.goesOnFrom === 'due' && isOverOnce(stored, planned)) throw firedOnce(stored)
  const trigger =
    planned.goesOnFrom === 'start'
      ? fromItsStart(stored, planned)
      : withOrigin(stored, goesOn(stored, planned))
  if (trigger.nextFireTimeMs === null) throw neverFires(trigger)
  return trigger
}

function goesOn(stored: Trigger, planned: Replacement): Trigger {
  const trigger = placed(stored, { ...planned, fired: stored.previousFireTimeMs })
  return stored.nextFireTimeMs === null ? trigger.withoutMissed(planned.calendar, planned.nowMs) : trigger
}

/**
 * A series that a misfire has begun anew is known as such also after its trigger was edited: as one that was defined
 * with the repeats that are left now, and those that the misfire had used up.
 */
function withOrigin(stored: Trigger, trigger: Trigger): Trigger {
  if (!(stored instanceof SimpleTrigger && trigger instanceof SimpleTrigger)) return trigger
  const { movedFrom, startTimeMs } = stored
  if (movedFrom === null || trigger.movedFrom !== null || trigger.startTimeMs !== startTimeMs) return trigger
  const isCounted = Math.min(movedFrom.repeatCount, stored.repeatCount, trigger.repeatCount) >= 0
  const used = isCounted ? movedFrom.repeatCount - stored.repeatCount : 0
  const repeatCount = Math.min(int32Max, trigger.repeatCount + used)
  const defined = { startTimeMs: movedFrom.startTimeMs, repeatCount }
  const { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = trigger
  const state = { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs }
  return new SimpleTrigger(trigger, { ...scheduleOf(trigger), movedFrom: defined }).withFireState(state)
}

/**
 * Whether the one fire time of the new trigger has fired in the stored one, or was left out: its run may go on. One
 * that lies ahead is not over where an execution of the job, or the calendar, took it away.
 */
function isOverOnce(stored: Trigger, { trigger, nowMs }: Replacement): boolean {
  if (stored.startTimeMs !== trigger.startTimeMs || !isOnce(trigger)) return false
  // What was left out by hand is counted. What fired before its start was another schedule.
  const hasFired = stored.previousFireTimeMs !== null && stored.previousFireTimeMs >= stored.startTimeMs
  if (!isOnce(stored)) return stored instanceof SimpleTrigger && (hasFired || isSkipped(stored, trigger))
  if (stored.nextFireTimeMs !== null) return false
  return hasFired || stored.timesTriggered > 0 || stored.startTimeMs <= nowMs
}

/**
 * A trigger whose definition was changed, in place of the stored one: it begins at its own start where that is another
 * one, and else goes on from where the stored one was.
 *
 * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES
 */
export function redefined(stored: Trigger, planned: Omit<Replacement, 'goesOnFrom'>): Trigger {
  return inPlaceOf(stored, { ...planned, ...redefinition(stored, planned.trigger, planned.calendar) })
}

/**
 * The trigger of a changed definition, and where it goes on. When a misfire has begun the stored series anew, the start
 * of the definition is compared with the one that was defined before. Where they are the same, the trigger gets the
 * start and the repeats that the misfire has left.
 *
 * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES
 */
export function redefinition(
  stored: Trigger,
  trigger: Trigger,
  calendar: Calendar | null,
): { readonly trigger: Trigger; readonly goesOnFrom: 'due' | 'start' } {
  if (stored.startTimeMs === trigger.startTimeMs) return { trigger, goesOnFrom: 'due' }
  const moved = movedAlike(stored, trigger, calendar)
  return moved === null ? { trigger, goesOnFrom: 'start' } : { trigger: moved, goesOnFrom: 'due' }
}

/** Null when no misfire has moved the stored series from the start of the trigger. */
function movedAlike(stored: Trigger, trigger: Trigger, calendar: Calendar | null): Trigger | null {
  if (!(stored instanceof SimpleTrigger && trigger instanceof SimpleTrigger)) return null
  const { movedFrom, startTimeMs } = stored
  if (movedFrom?.startTimeMs !== trigger.startTimeMs) return null
  const { endTimeMs, repeatCount } = trigger
  const isCounted = movedFrom.repeatCount > 0 && repeatCount >= 0
  const left = isCounted ? repeatCount - (movedFrom.repeatCount - stored.repeatCount) : repeatCount
  if ((isCounted && left < 0) || (endTimeMs !== null && endTimeMs < startTimeMs)) throw neverFires(trigger)
  const schedule = SimpleScheduleBuilder.of({ ...scheduleOf(trigger), repeatCount: left })
  const moved = trigger.getTriggerBuilder().startAt(new Date(startTimeMs)).withSchedule(schedule).build()
  const defined = { startTimeMs: trigger.startTimeMs, repeatCount }
  return new SimpleTrigger(moved, { ...scheduleOf(moved), movedFrom: defined }).computeFirstFireTime(calendar)
}

function scheduleOf({
  repeatCount,
  repeatIntervalMs,
  misfireInstruction,
}: SimpleTrigger): SimpleTriggerFields {
  return { repeatCount, repeatIntervalMs, misfireInstruction }
}

function fromItsStart(stored: Trigger, { trigger: planned, calendar }: Replacement): Trigger {
  const { previousFireTimeMs, timesTriggered } = stored
  // A cron trigger begins with the second of its start, so that one made within a second that has fired has it, too.
  const isFired = planned instanceof CronTrigger && planned.startTimeMs === previousFireTimeMs
  const trigger = isFired ? planned.withoutMissed(calendar, previousFireTimeMs) : planned
  const { nextFireTimeMs } = trigger
  // The fires of the former series must not count against the number of fires of this one.
  const isEndless = !trigger.countsFires() && trigger.finalFireTimeMs() === null
  return trigger.withFireState({
    previousFireTimeMs,
    timesTriggered: isEndless ? timesTriggered : 0,
    nextFireTimeMs,
    misfiredFireTimeMs: null,
  })
}

function placed(stored: Trigger | null, planned: Replacement & Pick<Next, 'fired'>): Trigger {
  const { trigger, calendar, nowMs, fired } = planned
  const series = stored === null || isOnce(stored) ? null : stored
  const isOver = (series?.nextFireTimeMs ?? null) === null
  const lastMs = series?.previousFireTimeMs ?? (isOver ? fired : null)
  if (isOnce(trigger) || (isOver && lastMs === null)) return trigger
  const dueMs = series?.nextFireTimeMs ?? null
  const isDue = dueMs !== null && dueMs <= nowMs
  // The clock of this node may be behind, and its transaction may have waited for the locks while others fired.
  const passedMs = Math.max(nowMs, lastMs ?? nowMs)
  const startMs = startOf(series, lastMs, planned)
  const first = startingAt(trigger, startMs, calendar).withoutMissed(calendar, passedMs)
  const next = withoutSkipped(series, first, calendar)
  return next.withFireState({
    previousFireTimeMs: lastMs,
    timesTriggered: series?.timesTriggered ?? 0,
    nextFireTimeMs: isDue ? dueMs : next.nextFireTimeMs,
    misfiredFireTimeMs: isDue && series !== null ? series.misfiredFireTimeMs : null,
  })
}

/** How many fire times are looked at one by one, because an operator may have left them out. */
const skipsMax = 100

/** The trigger without the fire times that an operator has left out of the stored series. */
function withoutSkipped(series: Trigger | null, first: Trigger, calendar: Calendar | null): Trigger {
  let next = first
  for (let skips = 1; next.nextFireTimeMs !== null && isSkipped(series, next); skips++) {
    // The rows are locked meanwhile, so what is left of very many goes at once.
    const untilMs = skips < skipsMax ? null : (series?.nextFireTimeMs ?? null)
    next = next.withoutMissed(calendar, untilMs === null ? next.nextFireTimeMs : untilMs - 1)
  }
  return next
}

/** Whether an operator has left the next fire time out of the stored series. */
function isSkipped(series: Trigger | null, { nextFireTimeMs, calendarName }: Trigger): boolean {
  const untilMs = series?.nextFireTimeMs ?? null
  if (series === null || untilMs === null || nextFireTimeMs === null || nextFireTimeMs >= untilMs)
    return false
  // Otherwise a calendar of one of the two may have left it out.
  return series.calendarName === calendarName && series.fireTimeAfterMs(nextFireTimeMs - 1) === nextFireTimeMs
}

function startOf(
  series: Trigger | null,
  lastMs: EpochMs | null,
  { trigger, goesOnFrom }: Pick<PlannedJob, 'trigger' | 'goesOnFrom'>,
): EpochMs {
  const dueMs = series?.nextFireTimeMs ?? null
  // A start that is still ahead was declared, and is not any more.
  const beganMs = Math.min(series?.startTimeMs ?? trigger.startTimeMs, trigger.startTimeMs)
  if (goesOnFrom === 'lastFire') return lastMs ?? beganMs
  return goesOnFrom === 'start' || dueMs === null ? trigger.startTimeMs : Math.min(trigger.startTimeMs, dueMs)
}

function startingAt(trigger: Trigger, startMs: EpochMs, calendar: Calendar | null): Trigger {
  if (startMs === trigger.startTimeMs) return trigger
  return trigger.getTriggerBuilder().startAt(new Date(startMs)).build().computeFirstFireTime(calendar)
}
