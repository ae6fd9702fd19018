import { checkFunction, checkObject } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import type { StorableJobData } from '../../core/job-data-type.ts'
import { refuseUnknownKeys } from '../../core/options.ts'
import type { JobOptions } from '../../jobs/define-job.ts'
import type { InlineJobDefinition } from '../../jobs/job-definition.ts'
import type { XxlJobAdmin } from './admin-face.ts'
import { chosen, definitionOfRun, onceOf } from './run-data.ts'
import { resolveRun, type XxlJobRoute, type XxlJobRunOptions } from './run-options.ts'
import { broadcast, checkOnTimeout, defineSendingJob, requireAdmin } from './sending-job.ts'

/** Options of `xxlJob`. */
export interface XxlJobOptions<Data extends object = Record<string, unknown>>
  extends Pick<JobOptions<Data>, 'description' | 'disallowConcurrentExecution' | 'retry' | 'schema'>,
    Omit<XxlJobRunOptions, 'address' | 'param' | 'route' | 'shard' | 'signal'> {
  /** What the executors register with: made by `createXxlJobAdmin`. */
  readonly admin: XxlJobAdmin
  /**
   * How the executor is chosen, as in `run`. With `SHARDING_BROADCAST` the job is a sharded one: each firing has an
   * item, with a result and retries of its own, for each of the first 1,000 executors that the node knows when it
   * fires; for one that fails where it knows none. Default `FIRST`.
   */
  readonly route?: XxlJobRoute
  /** The parameter of a run, made of the data of job and trigger. Default: `param` of the data, or ''. */
  readonly param?: (data: Data) => string
  /**
   * What follows when no result came within `resultTimeoutMs`. The execution has timed out either way; with `retry` the
   * retry policy of the job applies, although the run may still go on. Default `fail`.
   */
  readonly onTimeout?: 'fail' | 'retry'
}

const what = 'xxlJob'
const jobNames = ['description', 'disallowConcurrentExecution', 'retry', 'schema'] as const
const runNames = [
  'appName',
  'jobId',
  'handler',
  'route',
  'blockStrategy',
  'timeoutSeconds',
  'glue',
  'resultTimeoutMs',
] as const

/**
 * Defines a job that executors of XXL-JOB run. A firing executes until an executor reports its result to the admin of
 * any node, or until `resultTimeoutMs`, and holds no slot of the thread pool meanwhile. A restart and the death of a
 * node neither end nor repeat a run. Of a sharded job, each item is sent as the part of a broadcast. One whose route is
 * SHARDING_BROADCAST is sharded by that alone, and has as many parts as there are executors when it fires.
 *
 * @example
 * const billing = xxlJob('billing', { admin, appName: 'billing-executor', jobId: 17, handler: 'invoices' })
 *
 * @param jobType the name under which jobs of this kind are stored: the same on every node, for ever;
 *   at most 250 characters
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION
 */
export function xxlJob<Data extends StorableJobData<Data> = { readonly param?: string }>(
  jobType: string,
  options: XxlJobOptions<Data>,
): InlineJobDefinition<Data> {
  checkObject(what, 'options', options, 'ERR_INVALID_OPTION')
  refuseUnknownKeys(what, options, ['admin', 'param', 'onTimeout', ...jobNames, ...runNames])
  const { param = paramOf, onTimeout = 'fail' } = options
  const admin = requireAdmin(what, options.admin)
  checkFunction(what, 'param', param, 'ERR_INVALID_OPTION')
  checkOnTimeout(what, 'onTimeout', onTimeout, 'ERR_INVALID_OPTION')
  const run = resolveRun(chosen(options, runNames))
  const isBroadcast = run.route === broadcast
  if (isBroadcast && options.disallowConcurrentExecution === true) throw partsRunSideBySide()
  admin.define(definitionOfRun(jobType, run))
  return defineSendingJob<Data>(
    jobType,
    { admin, onTimeout, runOf: (data) => ({ ...run, param: param(data) }) },
    {
      ...chosen(options, jobNames),
      ...(isBroadcast && {
        // A run by hand at one address has one part.
        items: (data) => (onceOf(data).address === undefined ? admin.countOf(run.appName) : 1),
      }),
    },
  )
}

function paramOf(data: object): string {
  const param: unknown = Reflect.get(data, 'param')
  return typeof param === 'string' ? param : ''
}

function partsRunSideBySide(): InvalidArgumentError {
  return new InvalidArgumentError(
    'disallowConcurrentExecution',
    `${what}: 'disallowConcurrentExecution' has no place beside the route SHARDING_BROADCAST, whose parts run side ` +
      "by side. What an executor does with parts that overlap is its 'blockStrategy'.",
    'ERR_INVALID_OPTION',
  )
}
