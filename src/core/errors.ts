/**
 * Every error this library throws on purpose is a {@link SchedulerError} with a stable code. Codes are part of the
 * public contract, messages are not. A test holds the list of codes equal to the headings of docs/reference/errors.md.
 */
export const errorCodes = [
  'ERR_INVALID_ARGUMENT',
  'ERR_INVALID_OPTION',
  'ERR_INVALID_TRIGGER',
  'ERR_INVALID_CRON_EXPRESSION',
  'ERR_INVALID_CRONTAB',
  'ERR_INVALID_CALENDAR',
  'ERR_UNKNOWN_TIME_ZONE',
  'ERR_INVALID_JOB_DATA',
  'ERR_JOB_DATA_TOO_LARGE',
  'ERR_JOB_DATA_SCHEMA',
  'ERR_UNKNOWN_JOB_TYPE',
  'ERR_WORKER_MODULE',
  'ERR_ENTRY_MISSING',
  'ERR_TRIGGER_NEVER_FIRES',
  'ERR_OBJECT_ALREADY_EXISTS',
  'ERR_JOB_NOT_FOUND',
  'ERR_TRIGGER_NOT_FOUND',
  'ERR_CALENDAR_NOT_FOUND',
  'ERR_CALENDAR_IN_USE',
  'ERR_JOB_NOT_DURABLE',
  'ERR_JOB_KEY_MISMATCH',
  'ERR_SCHEDULER_SHUTDOWN',
  'ERR_SCHEDULER_STATE',
  'ERR_SCHEDULER_FAILURE',
  'ERR_SHUTDOWN_INCOMPLETE',
  'ERR_THREAD_POOL_SHUTDOWN',
  'ERR_WORKER_FAILED',
  'ERR_WORKER_UNAVAILABLE',
  'ERR_WORKER_THREADS_STUCK',
  'ERR_WORKER_DATA',
  'ERR_JOB_EXECUTION',
  'ERR_JOB_FACTORY',
  'ERR_JOB_TIMEOUT',
  'ERR_JOB_INTERRUPTED',
  'ERR_JOB_PERSISTENCE',
  'ERR_BROKEN_ROW',
  'ERR_DATABASE',
  'ERR_DATABASE_UNAVAILABLE',
  'ERR_COMMIT_UNKNOWN',
  'ERR_DRIVER_MISSING',
  'ERR_SCHEMA_TOO_NEW',
  'ERR_SCHEMA_TOO_OLD',
  'ERR_STORE_IN_USE',
  'ERR_THREAD_POOL_IN_USE',
  'ERR_PLUGIN_IN_USE',
  'ERR_NO_TRANSACTION',
  'ERR_NOT_SUPPORTED',
  'ERR_DUPLICATE_INSTANCE_ID',
  'ERR_MIXED_LOCKING',
  'ERR_NODE_ALIVE',
  'ERR_LISTENER_FAILED',
  'ERR_REJECTED_EXECUTION',
  'ERR_TASK_CANCELLED',
  'ERR_TASK_STATE',
  'ERR_TASK_REJECTED',
  'ERR_NO_TASK_SUCCEEDED',
  'ERR_NODE_TOO_OLD',
  'ERR_SERVER_CLOSED',
  'ERR_NOT_AUTHENTICATED',
  'ERR_NOT_ALLOWED',
  'ERR_FOREIGN_ORIGIN',
  'ERR_NOT_FOUND',
  'ERR_METHOD_NOT_ALLOWED',
  'ERR_RATE_LIMITED',
  'ERR_REQUEST_TOO_LARGE',
  'ERR_IDEMPOTENCY_KEY',
  'ERR_CHANGED_MEANWHILE',
  'ERR_XXL_JOB_ADMIN',
  'ERR_XXL_JOB_EXECUTOR',
  'ERR_XXL_JOB_RUN',
  'ERR_XXL_JOB_NO_RESULT',
  'ERR_INVARIANT',
] as const

export type ErrorCode = (typeof errorCodes)[number]

const brand = '~quartz-ts/error'

/** Base of every error of this library: branch on {@link SchedulerError.code}; `cause` is the error below it. */
export class SchedulerError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    Object.defineProperty(this, brand, { value: true })
  }

  /** True for errors of this library, also those of a second copy of the package or of another realm. */
  static is(value: unknown): value is SchedulerError {
    try {
      return typeof value === 'object' && value !== null && brand in value
    } catch {
      // A proxy whose traps throw is not one of our errors.
      return false
    }
  }
}

/** A value that the caller passed is wrong; the message names the field and the remedy. */
export class InvalidArgumentError extends SchedulerError {
  /** The field that is wrong, for example `repeatInterval`. */
  readonly field: string

  constructor(
    field: string,
    message: string,
    code: ErrorCode = 'ERR_INVALID_ARGUMENT',
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.field = field
  }
}

/** A cron expression that cannot be accepted: which field, where, and what to write instead where that is clear. */
export class CronExpressionError extends SchedulerError {
  readonly expression: string
  /** Name of the offending field, or null when the expression as a whole is wrong. */
  readonly field: string | null
  /** Zero-based offset into {@link expression}. */
  readonly position: number
  readonly suggestion: string | null

  constructor(
    message: string,
    detail: { expression: string; field: string | null; position: number; suggestion?: string | null },
    options?: ErrorOptions,
  ) {
    super('ERR_INVALID_CRON_EXPRESSION', message, options)
    this.expression = detail.expression
    this.field = detail.field
    this.position = detail.position
    this.suggestion = detail.suggestion ?? null
  }
}

/** A job store could not do what it was asked, or refused it. */
export class JobPersistenceError extends SchedulerError {
  constructor(message: string, options?: ErrorOptions & { code?: ErrorCode }) {
    super(options?.code ?? 'ERR_JOB_PERSISTENCE', message, options)
  }
}

/** Whether a store found a row that it cannot read. */
export function isBrokenRow(thrown: unknown): thrown is SchedulerError {
  return SchedulerError.is(thrown) && thrown.code === 'ERR_BROKEN_ROW'
}

/** An object with that identity is stored already, and replacing was not asked for. */
export class ObjectAlreadyExistsError extends JobPersistenceError {
  constructor(
    what: 'job' | 'trigger' | 'calendar',
    identity: string,
    remedy: string = 'Pass { replace: true } to replace it, or use another identity.',
  ) {
    super(`Cannot store ${what} '${identity}': one with this identity exists already. ${remedy}`, {
      code: 'ERR_OBJECT_ALREADY_EXISTS',
    })
  }
}

/**
 * What a job throws to steer its trigger. With none of the flags set it reports a plain failure, as any other error
 * thrown by a job does. When several flags are set the first one in this order counts; `giveUp` counts beside
 * `refireImmediately`, for what follows when the job is not refired.
 */
export class JobExecutionError extends SchedulerError {
  /** Run the job again at once, in the same slot; bounded by the scheduler's `maxRefires`. */
  readonly refireImmediately: boolean
  /** The trigger that fired becomes COMPLETE and never fires again. */
  readonly unscheduleFiringTrigger: boolean
  /** All triggers of the job become COMPLETE. */
  readonly unscheduleAllTriggers: boolean
  /** This firing is not tried again: neither by the retry policy of the job nor as a recovery. The schedule goes on. */
  readonly giveUp: boolean

  constructor(
    message: string,
    options?: ErrorOptions & {
      /** One of the library's; your own goes into `cause`. */
      code?: ErrorCode
      refireImmediately?: boolean
      unscheduleFiringTrigger?: boolean
      unscheduleAllTriggers?: boolean
      giveUp?: boolean
    },
  ) {
    super(options?.code ?? 'ERR_JOB_EXECUTION', message, options)
    this.refireImmediately = options?.refireImmediately ?? false
    this.unscheduleFiringTrigger = options?.unscheduleFiringTrigger ?? false
    this.unscheduleAllTriggers = options?.unscheduleAllTriggers ?? false
    this.giveUp = options?.giveUp ?? false
  }
}

/** States a fact that only a programming error can break. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new SchedulerError('ERR_INVARIANT', `Broken invariant: ${message}`)
}

/** The end of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new SchedulerError('ERR_INVARIANT', `Broken invariant: unexpected value ${String(value)}`)
}
