import type { JobExecutionContext } from './job-definition.ts'

/**
 * How much later than planned an execution was fired, in milliseconds. Another attempt at a firing has a trigger of its
 * own, which begins when the attempt is planned: it is not late by the pause before it.
 */
export function firingLatenessMs(context: JobExecutionContext): number {
  const planned = context.attempt > 1 ? context.trigger.startTime : context.scheduledFireTime
  return context.fireTime.getTime() - planned.getTime()
}
