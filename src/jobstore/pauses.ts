import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'

/** What was paused: one trigger, the triggers of a job, a group of either kind, or everything. */
export type PauseScope = 'trigger' | 'job' | 'triggerGroup' | 'jobGroup' | 'all'

/** Why something is paused. */
export interface Pause {
  /** What was paused: a trigger can be paused by its own pause, or by that of its job or of a group. */
  readonly scope: PauseScope
  readonly reason: string | null
  /** Who paused it, as the caller said. */
  readonly by: string | null
  /** The instant of the pause. */
  readonly sinceMs: EpochMs
  /** When it resumes by itself; null when it does not. */
  readonly untilMs: EpochMs | null
}

/** What a caller says of a pause. */
export type PauseNote = Pick<Pause, 'reason' | 'by' | 'untilMs'>

/** Of a pause about which nothing is said. */
export const silentPause: PauseNote = Object.freeze({ reason: null, by: null, untilMs: null })

/**
 * Whether something is said that replaces what is known of a pause that is in force. A name by itself does not: every
 * request to the server has one, and one without a reason must not take away the reason and the end that are known.
 */
export function saysSomething({ reason, untilMs }: PauseNote): boolean {
  return reason !== null || untilMs !== null
}

/** What a pause is of. */
export type PauseTarget =
  | { readonly scope: 'trigger'; readonly key: TriggerKey }
  | { readonly scope: 'job'; readonly key: JobKey }
  | { readonly scope: 'triggerGroup'; readonly group: string }
  | { readonly scope: 'jobGroup'; readonly group: string }
  | { readonly scope: 'all' }

/** What resuming does about fires that were missed. */
export interface ResumeManner {
  /** Late triggers go on with their first fire time after now, whatever their misfire instruction says. */
  readonly withoutMissed: boolean
}

export const ordinaryResume: ResumeManner = Object.freeze({ withoutMissed: false })

/** A group that is remembered as paused. */
export interface PausedGroup {
  readonly group: string
  /** Null where nothing is known: a node of Java paused it, say. */
  readonly pause: Pause | null
}

/** The groups that are remembered as paused. */
export interface PausedGroups {
  readonly triggerGroups: readonly PausedGroup[]
  readonly jobGroups: readonly PausedGroup[]
  /** `pauseAll` is in force: a trigger group that is stored later is paused as well. */
  readonly everyNewTriggerGroup: boolean
}

/** Pauses that have ended by themselves. */
export interface EndedPauses {
  readonly ended: readonly PauseTarget[]
  /** When the next one ends, also when that is past; null when none does. */
  readonly nextMs: EpochMs | null
}

/** How many pauses a store ends in one call, so that each call is short. */
export const pausesAtATime = 100

/** A fire that was left out. */
export interface SkippedFire {
  readonly skippedMs: EpochMs
  /** The next fire time now; null when the trigger has none left: it is complete, or paused. */
  readonly nextMs: EpochMs | null
}

/** The first pause that there is, of what is named most closely. */
export function closestPause(...pauses: readonly (Pause | null | undefined)[]): Pause | null {
  return pauses.find((pause) => pause !== null && pause !== undefined) ?? null
}
