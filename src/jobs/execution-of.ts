import { wrongArgument } from '../core/arguments.ts'
import { isObject } from '../core/options.ts'
import { checkJobSource, type JobSource, toJobDefinition } from './define-job.ts'
import type { JobDefinition } from './job-definition.ts'
import type { JobExecutionContext } from './job-execution-context.ts'

/** An execution of which the types of its data and of its answer are known. */
export type ExecutionOf<Data extends object, Result = unknown> = JobExecutionContext &
  Pick<JobExecutionContext<Data, Result>, 'mergedJobDataMap' | 'result'>

/**
 * Whether an execution is one of a definition's jobs: listeners and observers of events are told of every job, and know
 * the type of its data and of what it answered from here on.
 *
 * @example
 * scheduler.events.on('jobWasExecuted', ({ context }) => {
 *   if (isExecutionOf(context, report)) console.log(context.result, context.mergedJobDataMap.to)
 * })
 *
 * @throws InvalidArgumentError
 */
export function isExecutionOf<Data extends object, Result>(
  context: JobExecutionContext,
  job: JobDefinition<Data, Result, object>,
): context is ExecutionOf<Data, Result>
export function isExecutionOf<Data extends object>(
  context: JobExecutionContext,
  job: JobSource<Data>,
): context is ExecutionOf<Data>
export function isExecutionOf(context: JobExecutionContext, job: JobSource): boolean {
  if (!isObject(context) || !isObject(context.jobDetail)) {
    throw wrongArgument('isExecutionOf', 'context', 'what listeners and events are given', context)
  }
  checkJobSource('isExecutionOf', 'job', job)
  return context.jobDetail.jobType === toJobDefinition(job).jobType
}
