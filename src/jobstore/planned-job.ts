import { JobPersistenceError } from '../core/errors.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobPlan } from '../jobs/job-plan.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import { SimpleScheduleBuilder, SimpleTrigger } from '../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../triggers/families/trigger-builder.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { neverFires } from './refusals.ts'

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

/** What became of a declared job. `newer`: a later generation of its set declared it, so it was left alone. */
export type PlanOutcome = 'added' | 'changed' | 'unchanged' | 'newer'

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
}

/** The answer of `putPlanned`. */
export interface PutPlan extends PlanChange {
  readonly nextFireTimeMs: EpochMs | null
}

const untouched = { job: null, trigger: null, dropsTrigger: false }

/**
 * Decides what declaring a job changes. What was declared the same before is left alone: the phase and the progress of
 * its trigger, its pause, and the data that the job has stored. A store calls it with both rows locked.
 *
 * @throws JobPersistenceError ERR_OBJECT_ALREADY_EXISTS when the job belongs to another set
 */
export function planChange(
  stored: StoredPlan,
  planned: PlannedJob,
  { calendar, nowMs }: { readonly calendar: Calendar | null; readonly nowMs: EpochMs },
): PlanChange {
  const { plan } = planned.job
  const before = stored.job?.plan ?? null
  refuseOtherSet(planned, before)
  const fresh = planned.isPast ? null : planned.trigger
  if (stored.job === null) return { outcome: 'added', job: planned.job, trigger: fresh, dropsTrigger: false }
  if (before !== null && before.set === plan.set && before.generation > plan.generation) {
    return { outcome: 'newer', ...untouched }
  }
  const changesWhen = before?.when !== plan.when || isMissing(stored.trigger, fresh)
  const isSame = before?.job === plan.job && !changesWhen && hasSameData(before, plan)
  const keepsMark = before?.set === plan.set && before.generation === plan.generation
  if (isSame && keepsMark) return { outcome: 'unchanged', ...untouched }
  const over = overInstants(before, stored.trigger, plan)
  const job = {
    ...planned.job,
    jobDataMap: changedData(stored.job.jobDataMap, before, planned.job),
    plan: over.length === 0 ? plan : Object.freeze({ ...plan, over }),
  }
  const next = { ...planned, calendar, nowMs, keepsInstant: isSameInstant(before, plan), over }
  const goesOn = changesWhen ? goingOn(stored.trigger, next) : null
  const trigger = goesOn ?? (changesWhen && stored.isPaused ? pausedWhenOver(planned) : null)
  return {
    outcome: isSame ? 'unchanged' : 'changed',
    job: Object.freeze(job),
    trigger,
    dropsTrigger: changesWhen && trigger === null && stored.trigger !== null,
  }
}

/** The next fire time of a declared job once a change was carried out. */
export function nextFireTimeMsAfter(change: PlanChange, stored: Trigger | null): EpochMs | null {
  const trigger = change.dropsTrigger ? null : (change.trigger ?? stored)
  return unlessOver(trigger)?.nextFireTimeMs ?? null
}

/** The fire time of a schedule that is over: before all for which one may be declared, and not 0, Java's none. */
export const overMs = 1

/**
 * A pause is of the key, until somebody resumes or deletes it. So while the schedule is over, this trigger stays paused
 * in the place of the one that was. Resumed, it leaves out its one instant, and is complete.
 */
function pausedWhenOver({ job, trigger }: PlannedJob): Trigger {
  const { simpleSchedule } = SimpleScheduleBuilder
  return TriggerBuilder.newTrigger()
    .withIdentity(trigger.key)
    .forJob(job.key)
    .withDescription('Paused; the schedule is over')
    .startAt(new Date(overMs))
    .withSchedule(simpleSchedule().withMisfireInstruction('rescheduleNextWithRemainingCount'))
    .build()
    .computeFirstFireTime(null)
}

function unlessOver(trigger: Trigger | null): Trigger | null {
  const nextFireTimeMs = trigger?.nextFireTimeMs ?? null
  return nextFireTimeMs === null || nextFireTimeMs === overMs ? null : trigger
}

/** How many instants that are over are known; those passed by more than the misfire threshold are left out anyway. */
const overMax = 10

function overInstants(
  before: JobPlan | null,
  stored: Trigger | null,
  { instant }: JobPlan,
): readonly string[] {
  const known = before?.over ?? []
  const last = before?.instant
  if (last === undefined || last === instant || unlessOver(stored) !== null) return known
  return [...known.filter((each) => each !== last), last].slice(-overMax)
}

/** Whether the instant has run under this key, or was over there: another schedule in between changes nothing. */
function hasRun(
  stored: Trigger | null,
  { job: { plan }, trigger: { startTimeMs }, goesOnFrom, nowMs, over }: Next,
): boolean {
  // What runs after a time has a new instant each time it is declared.
  if (plan.instant === undefined || goesOnFrom !== 'start' || startTimeMs > nowMs) return false
  return over.includes(plan.instant) || stored?.previousFireTimeMs === startTimeMs
}

function refuseOtherSet({ job }: PlannedJob, before: JobPlan | null): void {
  if (before === null || before.set === null || before.set === job.plan.set) return
  throw new JobPersistenceError(
    `Job '${job.key.toString()}' belongs to the schedules '${before.set}'. Change it there, or use another key.`,
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
  return trigger.endTimeMs === null && trigger.finalFireTimeMs() === trigger.startTimeMs
}

function hasSameData(before: JobPlan, plan: JobPlan): boolean {
  const keys = Object.keys(plan.data)
  if (keys.length !== Object.keys(before.data).length) return false
  return keys.every((key) => before.data[key] === plan.data[key])
}

function isSameInstant(before: JobPlan | null, { instant }: JobPlan): boolean {
  return instant !== undefined && before?.instant === instant
}

/** The stored data with those entries changed that are declared otherwise than before. */
function changedData(
  stored: JobDataMap,
  before: JobPlan | null,
  { jobDataMap: declared, plan }: Pick<PlannedJob['job'], 'jobDataMap' | 'plan'>,
): JobDataMap {
  const isDropped = (key: string): boolean =>
    before !== null && Object.hasOwn(before.data, key) && !Object.hasOwn(plan.data, key)
  const data = Object.fromEntries(Object.entries(stored).filter(([key]) => !isDropped(key)))
  for (const [key, digest] of Object.entries(plan.data)) {
    if (before?.data[key] !== digest) data[key] = declared[key]
  }
  return data
}

/**
 * What a run left in the data of a declared job, as it is to be stored. What was declared otherwise while it ran stays
 * as declared: to the next declaration it is the same, so nothing would ever change it again.
 */
export function dataAfterRun(
  left: JobDataMap,
  { plan: before }: Pick<JobDetail, 'plan'>,
  { jobDataMap, plan }: Pick<JobDetail, 'jobDataMap' | 'plan'>,
): JobDataMap {
  if (before === undefined || plan === undefined || hasSameData(before, plan)) return left
  return changedData(left, before, { jobDataMap, plan })
}

/**
 * The new trigger in place of the stored one. What was due and has not fired stays due, so that the misfire policy of
 * the new trigger decides; for a schedule with one instant that instant alone counts. Null when it is over: its
 * instants have passed, or from where it goes on no fire time is left before its end.
 */
function goingOn(stored: Trigger | null, planned: Next): Trigger | null {
  if (planned.isPast || hasRun(stored, planned)) return null
  if (planned.keepsInstant) return atSameInstant(stored, planned)
  const trigger = stored === null ? planned.trigger : placed(stored, planned)
  return trigger.nextFireTimeMs === null ? null : trigger
}

/** What runs once does so at the instant of its first declaration; null when it has. */
function atSameInstant(found: Trigger | null, { trigger, calendar }: Replacement): Trigger | null {
  const stored = unlessOver(found)
  if (stored === null) return null
  const moved = startingAt(trigger, stored.startTimeMs, calendar)
  return moved.nextFireTimeMs === null ? null : moved
}

type Replacement = Pick<PlannedJob, 'trigger' | 'goesOnFrom'> & {
  readonly calendar: Calendar | null
  readonly nowMs: EpochMs
}

interface Next extends Replacement, PlannedJob {
  readonly keepsInstant: boolean
  readonly over: readonly string[]
}

/**
 * A trigger as it takes the place of a stored one, instead of beginning anew. What was due and has not fired stays due,
 * unless the trigger begins at its own start; for a schedule with one instant that instant alone counts.
 *
 * @throws SchedulerError ERR_TRIGGER_NEVER_FIRES when from where it goes on no fire time is left before its end
 */
export function inPlaceOf(stored: Trigger, planned: Replacement): Trigger {
  const trigger = planned.goesOnFrom === 'start' ? fromItsStart(stored, planned) : placed(stored, planned)
  if (trigger.nextFireTimeMs === null) throw neverFires(trigger)
  return trigger
}

function fromItsStart({ previousFireTimeMs, timesTriggered }: Trigger, { trigger }: Replacement): Trigger {
  const { nextFireTimeMs } = trigger
  return trigger.withFireState({
    previousFireTimeMs,
    timesTriggered,
    nextFireTimeMs,
    misfiredFireTimeMs: null,
  })
}

function placed(stored: Trigger, planned: Replacement): Trigger {
  const { trigger, calendar, nowMs } = planned
  if (isOnce(stored) || isOnce(trigger)) return trigger
  const { previousFireTimeMs, nextFireTimeMs, timesTriggered, misfiredFireTimeMs } = stored
  const isDue = nextFireTimeMs !== null && nextFireTimeMs <= nowMs
  // The clock of this node may be behind, and its transaction may have waited for the locks while others fired.
  const passedMs = Math.max(nowMs, previousFireTimeMs ?? nowMs)
  const next = startingAt(trigger, startOf(stored, planned), calendar).withoutMissed(calendar, passedMs)
  return next.withFireState({
    previousFireTimeMs,
    timesTriggered,
    nextFireTimeMs: isDue ? nextFireTimeMs : next.nextFireTimeMs,
    misfiredFireTimeMs: isDue ? misfiredFireTimeMs : null,
  })
}

function startOf(
  stored: Trigger,
  { trigger, goesOnFrom }: Pick<PlannedJob, 'trigger' | 'goesOnFrom'>,
): EpochMs {
  if (goesOnFrom === 'lastFire') return stored.previousFireTimeMs ?? stored.startTimeMs
  if (goesOnFrom === 'start' || stored.nextFireTimeMs === null) return trigger.startTimeMs
  return Math.min(trigger.startTimeMs, stored.nextFireTimeMs)
}

function startingAt(trigger: Trigger, startMs: EpochMs, calendar: Calendar | null): Trigger {
  if (startMs === trigger.startTimeMs) return trigger
  return trigger.getTriggerBuilder().startAt(new Date(startMs)).build().computeFirstFireTime(calendar)
}
