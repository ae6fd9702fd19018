import { checkBoolean, checkOptions } from '../core/arguments.ts'
import { resolveLogger } from '../core/line-logger.ts'
import { checkLoggerOrFalse, type Logger } from '../core/logger.ts'
import { type Clock, checkClock, systemClock } from '../time/clock.ts'

export interface TimerOptions {
  /** Whether a task that throws ends the timer, as in Java. Default false: the timer goes on. */
  readonly failFast?: boolean
  /** Whether waiting tasks keep the process alive; false is Java's daemon timer. Default true. */
  readonly ref?: boolean
  /**
   * A pino logger or anything of its shape; false: no log. Default: warnings and errors go to stderr, one line
   * each.
   */
  readonly logger?: Logger | false
  /** Where time comes from. Default: the system's. */
  readonly clock?: Clock
}

export interface ResolvedTimerOptions extends Readonly<Required<Omit<TimerOptions, 'logger'>>> {
  readonly logger: Logger
}

/** Fills in the defaults. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveTimerOptions(options: TimerOptions): ResolvedTimerOptions {
  checkOptions('Timer', options, {
    failFast: checkBoolean,
    ref: checkBoolean,
    logger: checkLoggerOrFalse,
    clock: checkClock,
  })
  const { clock = systemClock } = options
  return Object.freeze({
    failFast: options.failFast ?? false,
    ref: options.ref ?? true,
    logger: resolveLogger(options.logger, () => clock.now()),
    clock,
  })
}
