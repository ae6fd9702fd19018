/** XXL-JOB: an executor in Node.js, which admins of XXL-JOB have run its handlers. */

export type { SchedulerError } from './core/errors.ts'
export type { TypedEvents } from './core/typed-events.ts'
export { createXxlJobExecutor } from './xxl-job/executor/create-xxl-job-executor.ts'
export type { XxlJobExecutorEventMap } from './xxl-job/executor/executor-events.ts'
export type {
  XxlJobCloseOptions,
  XxlJobExecutor,
  XxlJobExecutorStatus,
} from './xxl-job/executor/executor-face.ts'
export type { XxlJobExecutorOptions } from './xxl-job/executor/executor-options.ts'
export {
  XxlJob,
  type XxlJobDecorator,
  type XxlJobDecoratorOptions,
  type XxlJobMethod,
} from './xxl-job/executor/handlers/xxl-job-decorator.ts'
export {
  defineXxlJobWorker,
  type XxlJobFunction,
  type XxlJobHandler,
  type XxlJobHandlerObject,
  type XxlJobWorker,
  type XxlJobWorkerOptions,
} from './xxl-job/executor/handlers/xxl-job-handler.ts'
export type { XxlJobContext } from './xxl-job/executor/run-context.ts'
export type { XxlJobScript } from './xxl-job/executor/scripts/script-runner.ts'
export { XxlJobHelper } from './xxl-job/executor/xxl-job-helper.ts'
