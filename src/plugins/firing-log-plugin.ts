import type { JobExecutionError } from '../core/errors.ts'
import { checkLogger, type Logger } from '../core/logger.ts'
import { refuseUnknownKeys } from '../core/options.ts'
import type { JobExecutionContext } from '../jobs/job-definition.ts'
import type { JobListener } from '../listeners/job-listener.ts'
import type { TriggerListener } from '../listeners/trigger-listener.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { SchedulerPlugin } from '../scheduler/scheduler-plugin.ts'
import type { Trigger } from '../triggers/trigger.ts'

const pluginName = 'firingLog'

export interface FiringLogOptions {
