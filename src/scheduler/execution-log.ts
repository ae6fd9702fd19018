import { boundedJson, shortened } from '../core/bounded-json.ts'
import type { Logger } from '../core/logger.ts'
import { textOf } from '../core/thrown-value.ts'
import { type ExecutionLogLevel, executionLogLevels } from '../jobstore/execution-log.ts'
import type { ExecutionLogLimits } from '../jobstore/job-store-records.ts'
import type { Clock } from '../time/clock.ts'
import type { Recorder } from './recorder.ts'

/** How many characters of a message, and of its fields, are kept. */
const textLength = 2000

export interface ExecutionLogParts {
  readonly logger: Logger
  readonly recorder: Recorder
  readonly clock: Clock
  readonly limits: ExecutionLogLimits
}

/** The log of one execution: lines go to the scheduler's logger, and are recorded within the limits. */
export class ExecutionLog implements Logger {
  readonly #parts: ExecutionLogParts
  readonly #fireInstanceId: string
  #lines: number

  /** `lines`: how many lines there are already. */
  constructor(fireInstanceId: string, parts: ExecutionLogParts, lines = 0) {
    this.#fireInstanceId = fireInstanceId
    this.#parts = parts
    this.#lines = lines
  }

  debug(fields: object, message: string): void {
    this.#log('debug', fields, message)
  }
  info(fields: object, message: string): void {
    this.#log('info', fields, message)
  }
  warn(fields: object, message: string): void {
    this.#log('warn', fields, message)
  }
  error(fields: object, message: string): void {
    this.#log('error', fields, message)
  }

  #log(level: ExecutionLogLevel, fields: unknown, message: unknown): void {
    const { limits, logger } = this.#parts
    if (executionLogLevels.indexOf(level) >= executionLogLevels.indexOf(limits.level)) {
      // As with pino, the message may stand alone.
      if (typeof fields === 'string' && message === undefined) this.#record(level, null, fields)
      else this.#record(level, fields, message)
    }
    logger[level](fields as object, message as string)
  }

  #record(level: ExecutionLogLevel, fields: unknown, message: unknown): void {
    const { maxLines } = this.#parts.limits
    this.#lines++
    if (this.#lines < maxLines) {
      const text = typeof message === 'string' ? message : message === undefined ? '' : textOf(message)
      this.#note(level, shortened(text, textLength), fieldsTextOf(fields))
    } else if (this.#lines === maxLines) {
      this.#note('warn', `This is line ${maxLines}, the last one that is kept of this execution.`, null)
    }
  }

  #note(level: ExecutionLogLevel, message: string, fieldsText: string | null): void {
    const { clock, recorder } = this.#parts
    const line = { line: this.#lines, timeMs: clock.now(), level, message, fieldsText }
    recorder.note('logs', { fireInstanceId: this.#fireInstanceId, line })
  }
}

function fieldsTextOf(fields: unknown): string | null {
  const text = boundedJson(fields, textLength)
  return text === '{}' || text === 'null' ? null : text
}
