import { wrongArgument } from '../core/arguments.ts'
import { isObject } from '../core/options.ts'
import { checkJobSource, toJobDefinition } from './define-job.ts'
import type { JobDefinition, JobExecutionContext, JobSource } from './job-definition.ts'

/** An execution whose data and result have known types. */
export type ExecutionOf<Data extends object, Result = unknown> = JobExecutionContext &
  Pick<JobExecutionContext<Data, Result>, 'mergedJobDataMap' | 'result'>

/**
 * Whether an execution is of a definition's job type. Listeners and observers of events get the executions of every
 * job; where this is true, the compiler knows the types of the data and of the result.
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
    throw wrongArgument('isExecutionOf', 'context', 'the context that listeners and events get', context)
  }
  checkJobSource('isExecutionOf', 'job', job)
  return context.jobDetail.jobType === toJobDefinition(job).jobType
}
