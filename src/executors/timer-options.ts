import { InvalidArgumentError } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import { describeValue, refuseUnknownKeys } from '../core/options.ts'
import { type Clock, systemClock } from '../time/clock.ts'

export interface TimerOptions {
  /** Whether a task that throws ends the timer, as in Java. Default false: the timer goes on. */
  readonly failFast?: boolean
  /** Whether waiting tasks keep the process alive; false is Java's daemon timer. Default true. */
  readonly ref?: boolean
  /** A pino logger or anything of its shape. Default: says nothing. */
  readonly logger?: Logger
  /** Default: the system's. */
  readonly clock?: Clock
}

/** Fills in the defaults. @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveTimerOptions(options: TimerOptions): Readonly<Required<TimerOptions>> {
  refuseUnknownKeys('Timer', options, ['failFast', 'ref', 'logger', 'clock'])
  return Object.freeze({
    failFast: requireBoolean('failFast', options.failFast ?? false),
    ref: requireBoolean('ref', options.ref ?? true),
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
  })
}

function requireBoolean(field: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new InvalidArgumentError(
    field,
    `Timer: '${field}' must be true or false, got ${describeValue(value)}.`,
    'ERR_INVALID_OPTION',
  )
}
