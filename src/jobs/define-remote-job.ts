import { checkFunction, checkWhole } from '../core/arguments.ts'
import type { StorableJobData } from '../core/job-data-type.ts'
import { refuseUnknownKeys } from '../core/options.ts'
import { defineJob, type JobOptions, jobOptionNames } from './define-job.ts'
import type { InlineJobDefinition, JobExecutionContext } from './job-definition.ts'
import type { AwaitResultOptions, RemoteJobHooks } from './remote-job.ts'

/** What a remote job is given. */
export interface RemoteJobContext<Data extends object = Record<string, unknown>>
  extends JobExecutionContext<Data> {
  /**
   * Writes down that the firing goes on elsewhere; resolves when that is committed. Call it once, before anything is
   * sent. From then on the firing ends when its result is reported, and when the job throws. A job that returns while
   * this is under way is not over before it has settled, and has failed when it is rejected.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION for a wrong option
   * @throws JobExecutionError the reason of `signal` when the execution was interrupted: send nothing, and throw it
   * @throws SchedulerError ERR_SCHEDULER_STATE when it was called before, the job has ended, or this node was recovered
   *   by another one;
   *   ERR_OBJECT_ALREADY_EXISTS for a reference that another firing has; ERR_NOT_SUPPORTED when the store cannot; or
   *   the error of the database
   */
  awaitResult(options: AwaitResultOptions): Promise<void>
}

/** Options of `defineRemoteJob`. */
export interface RemoteJobOptions<Data extends object = Record<string, unknown>>
  extends Omit<JobOptions<Data>, 'persistJobDataAfterExecution' | 'timeoutMs'>,
    RemoteJobHooks {
  /**
   * Milliseconds after which `send` is interrupted, 1 to 2,147,483,647. The result has a time limit of its own, in
   * `awaitResult`. Default: no limit.
   */
  readonly timeoutMs?: number
}

const what = 'defineRemoteJob'
const hookNames = ['stop', 'connect', 'items', 'isSharded', 'sendsAtOnce'] as const
const checkSendsAtOnce = checkWhole(1, 10_000)

/**
 * Defines a job whose firings go on elsewhere: `send` calls `context.awaitResult` and then hands the work to another
 * process. When `send` has returned, the firing holds no slot of the thread pool; with `sendsAtOnce` it needs none
 * before. It executes until its result is reported to any node of the cluster, or until its time limit; a restart and
 * the death of a node do not end it.
 *
 * When `send` throws after `awaitResult`, the execution has failed: throw only when the other side does not have it.
 *
 * @param jobType the name under which jobs of this kind are stored: the same on every node, for ever;
 *   at most 250 characters
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION
 */
export function defineRemoteJob<Data extends StorableJobData<Data> = Record<string, unknown>>(
  jobType: string,
  send: (context: RemoteJobContext<Data>) => unknown,
  options: RemoteJobOptions<Data> = {},
): InlineJobDefinition<Data> {
  checkFunction(what, 'send', send)
  const names = jobOptionNames.filter((name) => name !== 'persistJobDataAfterExecution')
  refuseUnknownKeys(what, options, [...names, ...hookNames])
  const { stop, connect, items, isSharded, sendsAtOnce, ...jobOptions } = options
  if (stop !== undefined) checkFunction(what, 'stop', stop, 'ERR_INVALID_OPTION')
  if (connect !== undefined) checkFunction(what, 'connect', connect, 'ERR_INVALID_OPTION')
  if (items !== undefined) checkFunction(what, 'items', items, 'ERR_INVALID_OPTION')
  if (isSharded !== undefined) checkFunction(what, 'isSharded', isSharded, 'ERR_INVALID_OPTION')
  if (sendsAtOnce !== undefined) checkSendsAtOnce(what, 'sendsAtOnce', sendsAtOnce, 'ERR_INVALID_OPTION')
  const definition = defineJob<Data>(
    jobType,
    (context) => send(context as RemoteJobContext<Data>),
    jobOptions,
  )
  const remote: RemoteJobHooks = Object.freeze({
    ...(stop && { stop }),
    ...(connect && { connect }),
    ...(items && { items }),
    ...(isSharded && { isSharded }),
    ...(sendsAtOnce !== undefined && { sendsAtOnce }),
  })
  return Object.freeze({ ...definition, remote })
}
