import { boundedJson } from '../core/bounded-json.ts'
import { fieldsAndMessage, type JobLog, type JobLogMethod } from '../core/job-log.ts'
import type { Logger } from '../core/logger.ts'
import { shortened } from '../core/text-beginning.ts'
import { type ExecutionLogLevel, executionLogLevels } from '../jobstore/execution-log.ts'
import type { ExecutionLogLimits } from '../jobstore/job-store-records.ts'
import type { Clock } from '../time/clock.ts'
import type { Recorder } from './recorder.ts'

/** How many characters of a message, and of its fields, are kept. */
const textLength = 2000

/** The execution whose lines they are, as fields of each line. */
export interface LoggedExecution {
  readonly jobKey?: string
  readonly jobType?: string
  readonly fireInstanceId: string
}

export interface ExecutionLogParts {
  readonly logger: Logger
  readonly recorder: Recorder
  readonly clock: Clock
  /** Null where the store keeps none. */
  readonly limits: ExecutionLogLimits | null
}

/** The log of one execution: lines go to the scheduler's logger, and are recorded within the limits. */
export class ExecutionLog implements JobLog {
  readonly #parts: ExecutionLogParts
  readonly #execution: LoggedExecution
  #lines: number

  /** `lines`: how many lines there are already. */
  constructor(execution: LoggedExecution, parts: ExecutionLogParts, lines = 0) {
    this.#execution = execution
    this.#parts = parts
    this.#lines = lines
  }

  readonly debug: JobLogMethod = (fields: unknown, message?: unknown) => {
    this.#log('debug', fields, message)
  }
  readonly info: JobLogMethod = (fields: unknown, message?: unknown) => {
    this.#log('info', fields, message)
  }
  readonly warn: JobLogMethod = (fields: unknown, message?: unknown) => {
    this.#log('warn', fields, message)
  }
  readonly error: JobLogMethod = (fields: unknown, message?: unknown) => {
    this.#log('error', fields, message)
  }

  #log(level: ExecutionLogLevel, given: unknown, text: unknown): void {
    const { limits, logger } = this.#parts
    const [fields, message] = fieldsAndMessage(given, text)
    if (limits !== null && executionLogLevels.indexOf(level) >= executionLogLevels.indexOf(limits.level)) {
      this.#record(level, fields, message, limits)
    }
    logger[level]({ ...this.#execution, ...fields }, message)
  }

  #record(level: ExecutionLogLevel, fields: object, message: string, limits: ExecutionLogLimits): void {
    const { maxLines } = limits
    this.#lines++
    if (this.#lines < maxLines) {
      this.#note(level, shortened(message, textLength), fieldsTextOf(fields))
    } else if (this.#lines === maxLines) {
      this.#note('warn', `This is line ${maxLines}, the last one that is kept of this execution.`, null)
    }
  }

  #note(level: ExecutionLogLevel, message: string, fieldsText: string | null): void {
    const { clock, recorder } = this.#parts
    const line = { line: this.#lines, timeMs: clock.now(), level, message, fieldsText }
    recorder.note('logs', { fireInstanceId: this.#execution.fireInstanceId, line })
  }
}

function fieldsTextOf(fields: object): string | null {
  const text = boundedJson(fields, textLength)
  return text === '{}' ? null : text
}
