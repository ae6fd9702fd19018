import { type ArgumentCheck, checkMethods } from '../core/arguments.ts'
import type { Clock } from '../time/clock.ts'

/** The last run, as a trigger sees it; null before the first. */
export interface TaskTriggerContext {
  /** When the last run was planned. */
  readonly lastScheduledExecution: Date | null
  /** When the last run began. */
  readonly lastActualExecution: Date | null
  /** When the last run ended. */
  readonly lastCompletion: Date | null
  readonly clock: Clock
}

/** Decides when a task runs next. Called before the first run and after the end of each, so runs never overlap. */
export interface TaskTrigger {
  /** The next run, or null when there is none. */
  nextExecution(context: TaskTriggerContext): Date | null
}

export const checkTaskTrigger: ArgumentCheck = checkMethods(
  "a trigger of 'quartz-ts/annotations'",
  ['nextExecution'],
  "Make one, as in new CronTaskTrigger('0 0 7 * * *') or new PeriodicTaskTrigger('5s').",
)
