import type { TriggerKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { FirePlace, Page, TriggerConditions, TriggerSummary } from '../jobstore/queries.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import { plannedTimes } from '../triggers/planned-times.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { RequestWork } from './request-work.ts'

/** How many triggers are read at a time. */
const readAtOnce = 200

/** A stretch of time, with both ends. */
export interface PlanWindow {
  readonly fromMs: EpochMs
  readonly toMs: EpochMs
}

export interface PlanRequest {
  readonly conditions: TriggerConditions
  readonly windows: readonly PlanWindow[]
  /** Most triggers to look at, those first that fire first. */
  readonly triggersMax: number
  /** Most fire times of one trigger in one window. */
  readonly timesMax: number
}

/** The fire times of one trigger in one window. */
export interface PlannedTrigger {
  readonly trigger: TriggerSummary
  readonly timesMs: readonly EpochMs[]
  /** False when there are more of them, or there was no time to look. */
  readonly isComplete: boolean
}

/** What fires in one window. */
export interface Plan extends PlanWindow {
  /** In the order of their next fire times. */
  readonly triggers: PlannedTrigger[]
  /** Up to this instant nothing is missing. */
  completeUntilMs: EpochMs
}

/**
 * What fires in some windows, as triggers and calendars are now. The work is bounded, and is done in turns, so that a
 * scheduler in the same process goes on firing.
 */
export async function planFirings(
  scheduler: Scheduler,
  clock: Clock,
  { conditions, windows, triggersMax, timesMax }: PlanRequest,
): Promise<readonly Plan[]> {
  const work = new RequestWork(clock)
  const calendars = new Map<string, Calendar | null>()
  const plans: Plan[] = windows.map(({ fromMs, toMs }) => ({
    fromMs,
    toMs,
    triggers: [],
    completeUntilMs: toMs,
  }))
  const dueBefore = new Date(Math.max(...windows.map(({ toMs }) => toMs)) + 1)
  let looked = 0
  for (let after: FirePlace | undefined; ; ) {
    const page: Page<TriggerSummary, FirePlace> = await scheduler.queryNextTriggers({
      ...conditions,
      dueBefore,
      take: Math.min(readAtOnce, triggersMax - looked),
      ...(after !== undefined && { after }),
    })
    const triggers = await triggersOf(scheduler, page.items)
    for (const summary of page.items) {
      const trigger = triggers.get(summary.key)
      // Deleted meanwhile, or of a family that this node does not know.
      if (trigger === undefined) continue
      const calendar = await calendarOf(scheduler, trigger, calendars)
      for (const plan of plans) addTo(plan, { summary, trigger, calendar }, timesMax, work)
      await work.breathe()
    }
    looked += page.items.length
    if (page.next === null) return plans
    after = page.next
    if (looked < triggersMax && !work.isOver()) continue
    for (const plan of plans) missesAfter(plan, after.nextFireTimeMs - 1)
    return plans
  }
}

interface Read {
  readonly summary: TriggerSummary
  readonly trigger: Trigger
  readonly calendar: Calendar | null
}

function addTo(plan: Plan, { summary, trigger, calendar }: Read, timesMax: number, work: RequestWork): void {
  const { fromMs, toMs } = plan
  const { timesMs, isComplete } = timesOf(plannedTimes(trigger, calendar, fromMs, toMs), timesMax, work)
  if (!isComplete) missesAfter(plan, timesMs.at(-1) ?? fromMs - 1)
  if (timesMs.length > 0) plan.triggers.push({ trigger: summary, timesMs, isComplete })
}

function missesAfter(plan: Plan, atMs: EpochMs): void {
  plan.completeUntilMs = Math.min(plan.completeUntilMs, Math.max(atMs, plan.fromMs - 1))
}

async function triggersOf(
  scheduler: Scheduler,
  summaries: readonly TriggerSummary[],
): Promise<KeyMap<TriggerKey, Trigger>> {
  const found = new KeyMap<TriggerKey, Trigger>()
  const known = summaries.filter(({ type }) => type !== 'unknown')
  for (const trigger of await scheduler.getTriggers(known.map(({ key }) => key)))
    found.set(trigger.key, trigger)
  return found
}

/** A calendar that is not there excludes nothing. */
async function calendarOf(
  scheduler: Scheduler,
  { calendarName }: Trigger,
  known: Map<string, Calendar | null>,
): Promise<Calendar | null> {
  if (calendarName === null) return null
  let calendar = known.get(calendarName)
  if (calendar === undefined) {
    calendar = await scheduler.getCalendar(calendarName)
    known.set(calendarName, calendar)
  }
  return calendar
}

function timesOf(
  steps: Iterable<EpochMs | null>,
  timesMax: number,
  work: RequestWork,
): { readonly timesMs: readonly EpochMs[]; readonly isComplete: boolean } {
  const timesMs: EpochMs[] = []
  for (const atMs of steps) {
    if (timesMs.length === timesMax || !work.take()) return { timesMs, isComplete: false }
    if (atMs !== null) timesMs.push(atMs)
  }
  return { timesMs, isComplete: true }
}
