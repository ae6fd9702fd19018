import { type ArgumentCheck, checkMethods } from '../core/arguments.ts'
import type { Clock } from '../time/clock.ts'

/** What a trigger knows of the runs so far; null before the first. */
export interface TaskTriggerContext {
  /** When the last run was planned. */
  readonly lastScheduledExecution: Date | null
  /** When it really began. */
  readonly lastActualExecution: Date | null
  /** When it ended. */
  readonly lastCompletion: Date | null
  readonly clock: Clock
}

/** Decides when a task runs next. Asked before the first run and after the end of each, so runs never overlap. */
export interface TaskTrigger {
  /** The next run, or null when there is none. */
  nextExecution(context: TaskTriggerContext): Date | null
}

export const checkTaskTrigger: ArgumentCheck = checkMethods(
  "a trigger of 'quartz-ts/annotations'",
  ['nextExecution'],
  "Make one, as in new CronTaskTrigger('0 0 7 * * *') or new PeriodicTaskTrigger('5s').",
)
