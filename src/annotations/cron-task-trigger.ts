import { refuseUnknownKeys } from '../core/options.ts'
import { CronExpression, checkExpression, refuseOptionsOfParsed } from '../triggers/cron/cron-expression.ts'
import type { CronDst } from '../triggers/cron/dst-policy.ts'
import type { TaskTrigger, TaskTriggerContext } from './task-trigger.ts'

export interface CronTaskTriggerOptions {
  /** IANA name of the zone. Default: the zone of this process. */
  readonly zone?: string | undefined
  /** What happens where the wall clock jumps. Default `vixie`. */
  readonly dst?: CronDst | undefined
}

/**
 * Runs when a cron expression matches: the first time after the end of the last run, and never again in the second
 * that a run was planned for, even when clocks that differ a little make that run end before it.
 */
export class CronTaskTrigger implements TaskTrigger {
  readonly cronExpression: CronExpression

  /**
   * Reads an expression of Spring's dialect; a parsed one keeps its dialect and zone.
   *
   * @throws CronExpressionError, InvalidArgumentError ERR_UNKNOWN_TIME_ZONE
   */
  constructor(expression: string, options?: CronTaskTriggerOptions)
  constructor(expression: CronExpression)
  constructor(expression: string | CronExpression, options: CronTaskTriggerOptions = {}) {
    checkExpression('CronTaskTrigger', 'expression', expression)
    refuseUnknownKeys('CronTaskTrigger', options, ['zone', 'dst'])
    const { zone: timeZone, dst } = options
    if (typeof expression === 'string') {
      this.cronExpression = CronExpression.parse(expression, { dialect: 'spring', timeZone, dst })
    } else {
      refuseOptionsOfParsed('CronTaskTrigger', options)
      this.cronExpression = expression
    }
  }

  nextExecution({ lastCompletion, lastScheduledExecution, clock }: TaskTriggerContext): Date | null {
    const endedMs = lastCompletion?.getTime() ?? clock.now()
    const plannedMs = lastScheduledExecution?.getTime() ?? endedMs
    return this.cronExpression.getTimeAfter(new Date(Math.max(endedMs, plannedMs)))
  }

  toString(): string {
    return this.cronExpression.toString()
  }
}
