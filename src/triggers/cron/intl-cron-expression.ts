import { refuseUnknownKeys } from '../../core/options.ts'
import { IntlZone } from '../../time/intl-zone.ts'
import {
  type CronOptions,
  type CronParts,
  isReadable,
  readCron,
  type UnixCronOptions,
} from './cron-reader.ts'
import { type CronClass, CronTimes } from './cron-times.ts'

/**
 * A cron expression in a time zone: an immutable value that answers when the wall clock matches it. It answers what the
 * `CronExpression` of `quartz-ts` answers, and may be given wherever that one is taken.
 */
export class CronExpression extends CronTimes {
  /** Zones by Intl, Unix fields read by the scanner of the other dialects: nothing that a browser does not have. */
  static readonly #class: CronClass = {
    zoneOf: (name) => IntlZone.of(name),
    systemZone: () => IntlZone.system(),
    readUnixFields: (_expression, _tokens, scanned) => scanned,
    make: (parts) => new CronExpression(parts),
  }

  private constructor(parts: CronParts) {
    super(CronExpression.#class, parts)
  }

  /**
   * Reads an expression. Throws `CronExpressionError` with the field, the position and, where the intent is clear, a
   * suggestion; also for an expression that can never fire (`0 0 0 31 2 ?`). Throws `InvalidArgumentError` for an
   * unknown zone.
   */
  static parse(expression: string, options: CronOptions = {}): CronExpression {
    return new CronExpression(readCron(CronExpression.#class, expression, options))
  }

  /** True when {@link CronExpression.parse} takes the text; false also for what is no text. */
  static isValid(expression: string, options: Pick<CronOptions, 'dialect' | 'seconds'> = {}): boolean {
    return isReadable(CronExpression.#class, expression, options)
  }
}

/** `CronExpression.parse` for a Unix expression of five fields (six with seconds) or a macro such as `@daily`. */
export function parseUnixCron(text: string, options: UnixCronOptions = {}): CronExpression {
  refuseUnknownKeys('parseUnixCron', options, ['timeZone', 'dst', 'seconds'])
  return CronExpression.parse(text, { ...options, dialect: 'unix' })
}
