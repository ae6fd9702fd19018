import { type ArgumentCheck, checkOneOf, wrongArgument } from '../../core/arguments.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { StorableJobData } from '../../core/job-data-type.ts'
import {
  defineRemoteJob,
  type RemoteJobContext,
  type RemoteJobOptions,
} from '../../jobs/define-remote-job.ts'
import type { InlineJobDefinition } from '../../jobs/job-definition.ts'
import { Admin } from './create-xxl-job-admin.ts'
import { placeField, placeOf } from './remote-place.ts'
import { onceOf } from './run-data.ts'
import type { ResolvedRun } from './run-options.ts'

export const broadcast = 'SHARDING_BROADCAST'

/**
 * A send waits for the store and for an executor, and does nothing else. The limit is for executors that take their
 * time to answer.
 */
const sendsAtOnce = 500

export interface SendingJob<Data extends object> {
  readonly admin: Admin
  readonly onTimeout: 'fail' | 'retry'
  /** What is sent for the data of job and trigger. */
  readonly runOf: (data: Data) => ResolvedRun
}

/** A job that hands its run to an executor, and ends with the result that this one reports. */
export function defineSendingJob<Data extends StorableJobData<Data>>(
  jobType: string,
  { admin, onTimeout, runOf }: SendingJob<Data>,
  options: RemoteJobOptions<Data>,
): InlineJobDefinition<Data> {
  return defineRemoteJob<Data>(
    jobType,
    async (context) => {
      const { mergedJobDataMap: data, log, shard, signal } = context
      const run = runOf(data)
      if (run.route === broadcast && shard === null) throw wasNotSplit(jobType)
      const wanted: ResolvedRun = { ...run, ...partOf(context, run), ...onceOf(data), signal }
      await admin.sender.send(wanted, async (place, timeoutMs) => {
        await context.awaitResult({
          reference: admin.referenceOf(place),
          note: JSON.stringify(place),
          timeoutMs,
          onTimeout,
        })
        admin.expectResult(run.resultTimeoutMs)
        log.info({ [placeField]: place }, `sent to the executor at ${place.address}`)
      })
    },
    {
      ...options,
      sendsAtOnce,
      stop: ({ note }) => admin.stop(placeOf(note)),
      connect: (scheduler, notes) => admin.connect(scheduler, notes),
    },
  )
}

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export function requireAdmin(what: string, admin: unknown): Admin {
  if (admin instanceof Admin) return admin
  throw wrongArgument(what, 'admin', 'what createXxlJobAdmin returned', admin, { code: 'ERR_INVALID_OPTION' })
}

export const checkOnTimeout: ArgumentCheck = checkOneOf(['fail', 'retry'])

function partOf<Data extends object>(
  { shard }: RemoteJobContext<Data>,
  { route }: ResolvedRun,
): Pick<ResolvedRun, 'shard'> {
  // A job whose route was a broadcast when it was stored: the one part goes where the route says now.
  if (shard === null || (shard.total === 1 && route !== broadcast)) return {}
  return { shard: { index: shard.item, total: shard.total } }
}

/** A job that was stored when its definition had another route, or by a process that did not know it. */
function wasNotSplit(jobType: string): SchedulerError {
  return new SchedulerError(
    'ERR_XXL_JOB_RUN',
    `This firing of '${jobType}' is a broadcast, and was not split into parts. Store the job again, on a node that ` +
      "has its definition, or with withSharding({ items: 'remote' }).",
  )
}
