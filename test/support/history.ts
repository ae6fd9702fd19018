import type { CompletedExecutionInstruction } from '../../src/jobstore/job-store.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

/**
 * What happened, in the order in which the store saw it. Whoever tests a scheduler writes it, outside the store; the
 * history checker reads it. Keys are the text of trigger and job keys.
 */
export type HistoryFact =
  /** A job exists from now on. */
  | {
      readonly kind: 'jobStored'
      readonly jobKey: string
      readonly jobType: string
      readonly nonConcurrent: boolean
    }
  /** A job is gone, and its triggers with it. */
  | { readonly kind: 'jobRemoved'; readonly jobKey: string }
  /** All jobs and triggers are gone. */
  | { readonly kind: 'cleared' }
  /** A trigger was stored; one of the same key is gone. */
  | { readonly kind: 'stored'; readonly trigger: Trigger }
  | { readonly kind: 'removed'; readonly triggerKey: string }
  | {
      readonly kind: 'calendar'
      readonly name: string
      readonly calendar: Calendar
      readonly updateTriggers: boolean
    }
  /** The misfire policy is about to be applied to the trigger. */
  | { readonly kind: 'misfired'; readonly trigger: Trigger }
  | {
      readonly kind: 'fired'
      readonly fireInstanceId: string
      /** As it goes on after the firing. */
      readonly trigger: Trigger
      readonly plannedMs: number
      readonly fireTimeMs: number
      /** When the scheduler decided to fire: the store may have answered much later. */
      readonly decidedAtMs: number
      /** The clock jumped between the decision and the firing. */
      readonly jumpedMeanwhile: boolean
    }
  /** The scheduler never learned of this firing; the failure was reported. */
  | { readonly kind: 'lost'; readonly fireInstanceId: string }
  | { readonly kind: 'vetoed'; readonly fireInstanceId: string }
  | {
      readonly kind: 'started'
      readonly fireInstanceId: string
      readonly attempt: number
      readonly refireCount: number
      readonly plannedMs: number
    }
  | { readonly kind: 'ended'; readonly fireInstanceId: string }
  /** The store was told that the firing ended; it may be told again. */
  | {
      readonly kind: 'completed'
      readonly fireInstanceId: string
      readonly trigger: Trigger
      readonly instruction: CompletedExecutionInstruction
      readonly retryTrigger: Trigger | null
    }
  /** The scheduler knows that the store knows: only now the slot of the thread pool is free. */
  | { readonly kind: 'slotFreed'; readonly fireInstanceId: string }
  /** A trigger left the ERROR state. */
  | { readonly kind: 'reset'; readonly triggerKey: string }
  | { readonly kind: 'acquired'; readonly triggerKey: string; readonly fireInstanceId: string }
  /** Firing begins (again), stands still, or has ended for good. */
  | { readonly kind: 'schedulerStarted' | 'schedulerStandby' | 'schedulerHalted' }
  /** A shutdown did not wait for the store: what that still does comes to nothing here. */
  | { readonly kind: 'storeCutOff' }
  /** Until then triggers may be late for a reason that has nothing to do with them. */
  | { readonly kind: 'disturbed'; readonly untilMs: number; readonly what: string }
  /** The wall clock jumped; the loop notices by then. */
  | { readonly kind: 'jumped'; readonly untilMs: number; readonly byMs: number }

export type HistoryEvent = HistoryFact & {
  /** Wall clock. */
  readonly atMs: number
}

/** One line for people. */
export function lineOf(event: HistoryEvent): string {
  const { atMs, kind, ...rest } = event
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${textOf(value)}`)
  return `${timeOf(atMs)} ${kind} ${fields.join(' ')}`
}

function textOf(value: unknown): string {
  if (typeof value === 'number') return value > 1e12 ? timeOf(value) : String(value)
  if (typeof value === 'object' && value !== null && 'nextFireTimeMs' in value && 'key' in value) {
    const { key, nextFireTimeMs, misfireInstruction, type } = value as Trigger
    const next = nextFireTimeMs === null ? 'never' : timeOf(nextFireTimeMs)
    return `${key.toString()}(${type}, ${misfireInstruction}, next ${next})`
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23)
}
