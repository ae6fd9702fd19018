import { refuseUnknownKeys } from '../../core/options.ts'
import { CronExpression } from './cron-expression.ts'
import type { UnixCronOptions } from './cron-reader.ts'

/**
 * Reads a five-field Unix expression (minute, hour, day of month, month, day of week; 0 and 7 are Sunday) or one of the
 * macros `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`. With `seconds: 'optional'` a
 * field for seconds may stand first. When both day fields restrict, one is enough, as in every Unix cron. Also taken:
 * `L` as day of month, `5L` and `1#2` as day of week. Throws `CronExpressionError`; `@reboot` is one, because it names
 * no time.
 */
export function parseUnixCron(text: string, options: UnixCronOptions = {}): CronExpression {
  refuseUnknownKeys('parseUnixCron', options, ['timeZone', 'dst', 'seconds'])
  return CronExpression.parse(text, { ...options, dialect: 'unix' })
}
