import type { JobExecutionError } from '../core/errors.ts'
import { unfailing } from '../core/line-logger.ts'
import { checkLogger, type Logger } from '../core/logger.ts'
import { refuseUnknownKeys } from '../core/options.ts'
import { firingLatenessMs } from '../jobs/firing-lateness.ts'
import type { JobExecutionContext } from '../jobs/job-definition.ts'
import type { JobListener } from '../listeners/job-listener.ts'
import type { TriggerListener } from '../listeners/trigger-listener.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { SchedulerPlugin } from '../scheduler/scheduler-plugin.ts'
import type { Trigger } from '../triggers/trigger.ts'

const pluginName = 'firingLog'

export interface FiringLogOptions {
  /** Where the lines go. */
  readonly logger: Logger
}

/** Logs every firing, misfire, veto, end and failure as one line with fields; not what jobs log themselves. */
export function firingLogPlugin(options: FiringLogOptions): SchedulerPlugin {
  refuseUnknownKeys('firingLogPlugin', options, ['logger'])
  checkLogger('firingLogPlugin', 'logger', options.logger, 'ERR_INVALID_OPTION')
  return {
    name: pluginName,
    initialize({ listenerManager }: Scheduler) {
      // Each plugin has listeners of its own, which would replace others of their name.
      let name = pluginName
      for (let count = 2; listenerManager.getJobListener(name) !== null; count++)
        name = `${pluginName}-${count}`
      const listener = new FiringLog(name, unfailing(options.logger))
      listenerManager.addJobListener(listener)
      listenerManager.addTriggerListener(listener)
    },
  }
}

class FiringLog implements JobListener, TriggerListener {
  readonly name: string
  readonly #logger: Logger

  constructor(name: string, logger: Logger) {
    this.name = name
    this.#logger = logger
  }

  jobToBeExecuted(context: JobExecutionContext): void {
    this.#logger.info(fieldsOf(context), 'job starts')
  }
  jobExecutionVetoed(context: JobExecutionContext): void {
    this.#logger.info(fieldsOf(context), 'job vetoed')
  }
  jobWasExecuted(context: JobExecutionContext, error: JobExecutionError | null): void {
    const fields = { ...fieldsOf(context), runTimeMs: context.jobRunTimeMs }
    if (error === null) this.#logger.info(fields, 'job ended')
    else this.#logger.warn({ ...fields, err: error }, 'job failed')
  }
  triggerMisfired(trigger: Trigger): void {
    this.#logger.warn(
      {
        trigger: trigger.key.toString(),
        job: trigger.jobKey?.toString(),
        due: trigger.nextFireTime?.toISOString(),
        misfireInstruction: trigger.misfireInstruction,
      },
      'trigger misfired',
    )
  }
}

function fieldsOf(context: JobExecutionContext): object {
  return {
    job: context.jobKey.toString(),
    jobType: context.jobDetail.jobType,
    trigger: context.triggerKey.toString(),
    fireInstanceId: context.fireInstanceId,
    scheduled: context.scheduledFireTime.toISOString(),
    latenessMs: firingLatenessMs(context),
    attempt: context.attempt,
    refireCount: context.refireCount,
  }
}
