import { checkBoolean } from '../core/arguments.ts'
import { refuseUnknownKeys } from '../core/options.ts'
import { type DurationLike, requireDurationMs } from '../time/duration-options.ts'
import type { TaskTrigger, TaskTriggerContext } from './task-trigger.ts'

export interface PeriodicTaskTriggerOptions {
  /** Before the first run. Default 0. */
  readonly initialDelay?: DurationLike
  /** Count from one planned run to the next, instead of from the end of a run. Default false. */
  readonly fixedRate?: boolean
}

/**
 * A `TaskTrigger` that runs periodically, by the wall clock. With `fixedRate`, a clock that is set an hour ahead makes
 * the runs of an hour follow at once, and one that is set back has none run for so long; `scheduleAtFixedRate` does
 * neither.
 */
export class PeriodicTaskTrigger implements TaskTrigger {
  readonly periodMs: number
  readonly initialDelayMs: number
  readonly fixedRate: boolean

  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(period: DurationLike, options: PeriodicTaskTriggerOptions = {}) {
    const owner = 'PeriodicTaskTrigger'
    refuseUnknownKeys(owner, options, ['initialDelay', 'fixedRate'])
    this.periodMs = requireDurationMs(owner, 'period', period, { minMs: 1 })
    this.initialDelayMs = requireDurationMs(owner, 'initialDelay', options.initialDelay ?? 0, { minMs: 0 })
    if (options.fixedRate !== undefined) {
      checkBoolean(owner, 'fixedRate', options.fixedRate, 'ERR_INVALID_OPTION')
    }
    this.fixedRate = options.fixedRate ?? false
  }

  nextExecution({ lastScheduledExecution, lastCompletion, clock }: TaskTriggerContext): Date {
    if (lastScheduledExecution === null || lastCompletion === null) {
      return new Date(clock.now() + this.initialDelayMs)
    }
    const last = this.fixedRate ? lastScheduledExecution : lastCompletion
    return new Date(last.getTime() + this.periodMs)
  }
}
