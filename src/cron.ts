/**
 * The entry point `quartz-ts/cron`: cron expressions alone, in every dialect. It needs nothing of Node.js, and of other
 * packages only cronstrue, so that a browser can check, describe and preview what a scheduler will do.
 */
export {
  CronExpressionError,
  type ErrorCode,
  InvalidArgumentError,
  SchedulerError,
} from './core/errors.ts'
export { type CronDialect, cronDialects } from './triggers/cron/cron-dialect.ts'
export type { CronOptions, UnixCronOptions } from './triggers/cron/cron-reader.ts'
export type { CronFieldSummary, CronSummary } from './triggers/cron/cron-summary.ts'
export type { CronExpressionJson, CronTimes } from './triggers/cron/cron-times.ts'
export type { CronDst } from './triggers/cron/dst-policy.ts'
export { CronExpression, parseUnixCron } from './triggers/cron/intl-cron-expression.ts'
