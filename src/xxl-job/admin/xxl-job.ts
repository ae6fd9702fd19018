import {
  type ArgumentCheck,
  checkFunction,
  checkObject,
  checkOneOf,
  wrongArgument,
} from '../../core/arguments.ts'
import { InvalidArgumentError, SchedulerError } from '../../core/errors.ts'
import type { StorableJobData } from '../../core/job-data-type.ts'
import { refuseUnknownKeys } from '../../core/options.ts'
import type { JobOptions } from '../../jobs/define-job.ts'
import type { RemoteJobContext } from '../../jobs/define-remote-job.ts'
import { defineRemoteJob } from '../../jobs/define-remote-job.ts'
import type { InlineJobDefinition } from '../../jobs/job-definition.ts'
import type { XxlJobAdmin, XxlJobDefinition } from './admin-face.ts'
import { Admin } from './create-xxl-job-admin.ts'
import { onceKeys, placeField, placeOf } from './remote-place.ts'
import { type ResolvedRun, resolveRun, type XxlJobRoute, type XxlJobRunOptions } from './run-options.ts'

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
const checkOnTimeout: ArgumentCheck = checkOneOf(['fail', 'retry'])

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
  const { admin, param = paramOf, onTimeout = 'fail' } = options
  if (!(admin instanceof Admin)) {
    throw wrongArgument(what, 'admin', 'what createXxlJobAdmin returned', admin, {
      code: 'ERR_INVALID_OPTION',
    })
  }
  checkFunction(what, 'param', param, 'ERR_INVALID_OPTION')
  checkOnTimeout(what, 'onTimeout', onTimeout, 'ERR_INVALID_OPTION')
  const run = resolveRun(chosen(options, runNames))
  const isBroadcast = run.route === 'SHARDING_BROADCAST'
  if (isBroadcast && options.disallowConcurrentExecution === true) throw partsRunSideBySide()
  admin.define(definitionOf(jobType, run))
  return defineRemoteJob<Data>(
    jobType,
    async (context) => {
      const { mergedJobDataMap: data, log, shard, signal } = context
      if (isBroadcast && shard === null) throw wasNotSplit(jobType)
      const wanted: ResolvedRun = { ...run, ...partOf(context), param: param(data), ...onceOf(data), signal }
      await admin.sender.send(wanted, async (place) => {
        await context.awaitResult({
          reference: admin.referenceOf(place),
          note: JSON.stringify(place),
          timeoutMs: run.resultTimeoutMs,
          onTimeout,
        })
        log.info({ [placeField]: place }, `sent to the executor at ${place.address}`)
      })
    },
    {
      ...chosen(options, jobNames),
      stop: ({ note }) => admin.stop(placeOf(note)),
      connect: (scheduler, notes) => admin.connect(scheduler, notes),
      ...(isBroadcast && {
        // A run by hand at one address has one part.
        items: (data) => (onceOf(data).address === undefined ? admin.countOf(run.appName) : 1),
      }),
    },
  )
}

function partOf<Data extends object>({ shard }: RemoteJobContext<Data>): Pick<ResolvedRun, 'shard'> {
  return shard === null ? {} : { shard: { index: shard.item, total: shard.total } }
}

/** What a run that somebody asked for by hand has in place of what the definition says. */
function onceOf(data: object): Pick<ResolvedRun, 'address'> & Partial<Pick<ResolvedRun, 'param'>> {
  const param: unknown = Reflect.get(data, onceKeys.param)
  const address: unknown = Reflect.get(data, onceKeys.address)
  return {
    ...(typeof param === 'string' && { param }),
    ...(typeof address === 'string' && { address }),
  }
}

function definitionOf(jobType: string, run: ResolvedRun): XxlJobDefinition {
  const { appName, jobId, handler, route, blockStrategy, timeoutSeconds, glue = null } = run
  return { jobType, appName, jobId, handler, route, blockStrategy, timeoutSeconds, glue }
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

/** A job that was stored when its definition had another route, or by a process that did not know it. */
function wasNotSplit(jobType: string): SchedulerError {
  return new SchedulerError(
    'ERR_XXL_JOB_RUN',
    `This firing of '${jobType}' is a broadcast, and was not split into parts. Store the job again, on a node that ` +
      "has its definition, or with withSharding({ items: 'remote' }).",
  )
}

/** Those of the options that are given. */
function chosen<Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
): Pick<Options, Name> {
  const given = names.filter((name) => options[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, options[name]])) as unknown as Pick<Options, Name>
}
