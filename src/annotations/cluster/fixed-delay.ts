import { SchedulerError } from '../../core/errors.ts'
import type { JobDataMap } from '../../core/job-data-map.ts'
import type { TriggerKey } from '../../core/key.ts'
import type { Logger } from '../../core/logger.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { JobExecutionContext } from '../../jobs/job-definition.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock } from '../../time/clock.ts'
import { SimpleTrigger } from '../../triggers/families/simple/simple-trigger.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { ScheduledMethodOf } from '../scheduled-methods.ts'

const delayKey = 'fixedDelayMs'

/** The entry of the trigger's data that marks a fixed delay: text, because data that Java reads have nothing else. */
export function fixedDelayData(delayMs: number): JobDataMap {
  return { [delayKey]: String(delayMs) }
}

/** What a run of a method in a cluster needs. */
export interface ClusterRunParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Runs the method. A trigger with a fixed delay repeats at a fixed rate in the store, so that it goes on when a node
 * dies during a run. At the end of a run this function reschedules it to begin after the delay. Until then the job
 * blocks the trigger.
 */
export async function runWithFixedDelay(
  method: ScheduledMethodOf,
  context: JobExecutionContext,
  { scheduler, clock, logger }: ClusterRunParts,
): Promise<unknown> {
  const startedMs = clock.elapsedMs()
  try {
    return await method.run({ signal: context.signal, execution: context })
  } finally {
    if (delayOf(context.trigger) !== null) {
      // The scheduler's time, which may differ from the machine's.
      const endMs = context.fireTime.getTime() + (clock.elapsedMs() - startedMs)
      // The trigger then goes on at its fixed rate: no failure of the method.
      await moveBehind(scheduler, context.originalTriggerKey, endMs).catch((cause: unknown) => {
        logThrown(logger, cause, 'The next run of a task with a fixed delay could not be moved', {
          task: method.name,
        })
      })
    }
  }
}

function delayOf({ jobDataMap }: Trigger): number | null {
  const delay = jobDataMap[delayKey]
  const delayMs = typeof delay === 'string' ? Number(delay) : Number.NaN
  return Number.isFinite(delayMs) ? delayMs : null
}

/** How often a run looks again when another schedule takes the place of the one that it has read. */
const attemptsMax = 5

async function moveBehind(scheduler: Scheduler, key: TriggerKey, endMs: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await moveOnce(scheduler, key, endMs)
      return
    } catch (error) {
      const isOther = error instanceof SchedulerError && error.code === 'ERR_CHANGED_MEANWHILE'
      if (!isOther || attempt === attemptsMax) throw error
    }
  }
}

async function moveOnce(scheduler: Scheduler, key: TriggerKey, endMs: number): Promise<void> {
  const trigger = await scheduler.getTrigger(key)
  // The trigger was deleted while the method ran, or a schedule of another kind took its place.
  if (!(trigger instanceof SimpleTrigger)) return
  const delayMs = delayOf(trigger)
  if (delayMs === null) return
  const moved = trigger
    .getTriggerBuilder()
    .startAt(new Date(Math.ceil(endMs + delayMs)))
    .build()
  // An operator may pause it at any time, and then it stays paused. An instance that starts may change it at any time.
  await scheduler.rescheduleJob(key, moved, { goesOnFrom: 'start', expected: trigger })
}
