import { type ArgumentCheck, checkThat } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import { TimeZone } from '../../time/zone.ts'
import { readWithCronParser } from './cron-parser-fields.ts'
import { type CronOptions, type CronParts, isReadable, readCron } from './cron-reader.ts'
import { type CronClass, CronTimes, isCronTimes } from './cron-times.ts'

/** A cron expression in a time zone: an immutable value that answers when the wall clock matches it. */
export class CronExpression extends CronTimes {
  /** Zones with luxon's offsets, Unix fields read by cron-parser. */
  static readonly #class: CronClass = {
    zoneOf: (name) => TimeZone.of(name),
    systemZone: () => TimeZone.system(),
    readUnixFields: readWithCronParser,
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

/**
 * Refuses options beside a parsed expression, which would have no effect.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function refuseOptionsOfParsed(method: string, options: object = {}): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    throw new InvalidArgumentError(
      name,
      `${method}: '${name}' says how a text is read, and a parsed expression was read before. ` +
        'Leave it out, or use withTimeZone or withDst of the expression.',
      'ERR_INVALID_OPTION',
    )
  }
}

/** An expression as text or a parsed one. */
export const checkExpression: ArgumentCheck = checkThat(
  'a cron expression, as text or parsed',
  (value) => typeof value === 'string' || isCronTimes(value),
  "Pass text such as '0 0 12 * * ?'.",
)
