/**
 * XXL-JOB in both roles: an executor in Node.js, which admins of XXL-JOB have run its handlers, and an admin, which has
 * executors of XXL-JOB run theirs.
 */

export type { SchedulerError } from './core/errors.ts'
export type { TypedEvents } from './core/typed-events.ts'
export type { XxlJobAdminEventMap, XxlJobRunPlace } from './xxl-job/admin/admin-events.ts'
export type {
  XxlJobAdmin,
  XxlJobDefinition,
  XxlJobExecutorGroup,
  XxlJobKillOptions,
  XxlJobLogOptions,
  XxlJobRunResult,
} from './xxl-job/admin/admin-face.ts'
export type { XxlJobAdminOptions } from './xxl-job/admin/admin-options.ts'
export { createXxlJobAdmin } from './xxl-job/admin/create-xxl-job-admin.ts'
export type { XxlJobDialect } from './xxl-job/admin/executor-client.ts'
export type { XxlJobData } from './xxl-job/admin/run-data.ts'
export type { XxlJobGlue, XxlJobRoute, XxlJobRunOptions } from './xxl-job/admin/run-options.ts'
export type { XxlJobRunPart } from './xxl-job/admin/run-sender.ts'
export { type XxlJobOptions, xxlJob } from './xxl-job/admin/xxl-job.ts'
export { type XxlJobFromDataOptions, xxlJobFromData } from './xxl-job/admin/xxl-job-from-data.ts'
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
export type { BlockStrategy, GlueType, LogResult } from './xxl-job/protocol/trigger-request.ts'
