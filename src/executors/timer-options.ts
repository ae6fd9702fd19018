import { checkBoolean, checkOptions } from '../core/arguments.ts'
import { checkLogger, type Logger, silentLogger } from '../core/logger.ts'
import { type Clock, checkClock, systemClock } from '../time/clock.ts'

export interface TimerOptions {
  /** Whether a task that throws ends the timer, as in Java. Default false: the timer goes on. */
  readonly failFast?: boolean
  /** Whether waiting tasks keep the process alive; false is Java's daemon timer. Default true. */
  readonly ref?: boolean
  /** A pino logger or anything of its shape. Default: no log. */
  readonly logger?: Logger
  /** Default: the system's. */
  readonly clock?: Clock
}

/** Fills in the defaults. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveTimerOptions(options: TimerOptions): Readonly<Required<TimerOptions>> {
  checkOptions('Timer', options, {
    failFast: checkBoolean,
    ref: checkBoolean,
    logger: checkLogger,
    clock: checkClock,
  })
  return Object.freeze({
    failFast: options.failFast ?? false,
    ref: options.ref ?? true,
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
  })
}
