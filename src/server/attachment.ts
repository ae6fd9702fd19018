import { SchedulerError } from '../core/errors.ts'
import { isAttached } from '../health/scheduler-health.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'

/** Whether the nodes and what runs on them are known: a store without check-ins tells others neither. */
export function seesNodes(scheduler: Scheduler): boolean {
  return scheduler.getMetaData().jobStoreClustered || !isAttached(scheduler)
}

export function refuseAttached(scheduler: Scheduler): void {
  if (!isAttached(scheduler)) return
  throw new SchedulerError(
    'ERR_SCHEDULER_STATE',
    'This server is attached to the data of other nodes and fires nothing itself: start and stop those nodes.',
  )
}

/** For what is not among the executions that are known, and may run all the same. */
export function refuseBlind(scheduler: Scheduler): void {
  if (seesNodes(scheduler)) return
  throw new SchedulerError(
    'ERR_SCHEDULER_STATE',
    'This server is attached to a store that does not say what other processes run: ask the server of the process ' +
      'that fires from it.',
  )
}
