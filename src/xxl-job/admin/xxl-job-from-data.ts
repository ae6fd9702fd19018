import { checkObject } from '../../core/arguments.ts'
import { refuseUnknownKeys } from '../../core/options.ts'
import type { JobOptions } from '../../jobs/define-job.ts'
import type { InlineJobDefinition } from '../../jobs/job-definition.ts'
import type { XxlJobAdmin } from './admin-face.ts'
import { chosen, onceOf, runOfData, type XxlJobData } from './run-data.ts'
import { checkResultTimeout } from './run-options.ts'
import { broadcast, checkOnTimeout, defineSendingJob, requireAdmin } from './sending-job.ts'

/** Options of `xxlJobFromData`. */
export interface XxlJobFromDataOptions extends Pick<JobOptions<XxlJobData>, 'description' | 'retry'> {
  /** What the executors register with: made by `createXxlJobAdmin`. */
  readonly admin: XxlJobAdmin
  /**
   * How long a result may take where the data of the job do not say it. Milliseconds, 1,000 to 2,147,483,647, default
   * 3,600,000, which is an hour.
   */
  readonly resultTimeoutMs?: number
  /** What follows when no result came in that time, as for `xxlJob`. Default `fail`. */
  readonly onTimeout?: 'fail' | 'retry'
}

const what = 'xxlJobFromData'
const jobNames = ['description', 'retry'] as const

/**
 * Defines one job type for many jobs that executors of XXL-JOB run, each of which says in its data what is sent: the
 * type of the jobs that `quartz-ts xxl import` stores. Otherwise they are as those of `xxlJob`. A job whose data say
 * SHARDING_BROADCAST is stored as sharded, and has as many parts as there are executors when it fires. An execution of
 * a job whose data make no sense fails with ERR_INVALID_OPTION.
 *
 * @example
 * const imported = xxlJobFromData('xxl-job', { admin })
 *
 * @param jobType the name under which jobs of this kind are stored; `xxl-job` is that of the import
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION
 */
export function xxlJobFromData(
  jobType: string,
  options: XxlJobFromDataOptions,
): InlineJobDefinition<XxlJobData> {
  checkObject(what, 'options', options, 'ERR_INVALID_OPTION')
  refuseUnknownKeys(what, options, ['admin', 'resultTimeoutMs', 'onTimeout', ...jobNames])
  const { resultTimeoutMs, onTimeout = 'fail' } = options
  const admin = requireAdmin(what, options.admin)
  checkOnTimeout(what, 'onTimeout', onTimeout, 'ERR_INVALID_OPTION')
  if (resultTimeoutMs !== undefined) {
    checkResultTimeout(what, 'resultTimeoutMs', resultTimeoutMs, 'ERR_INVALID_OPTION')
  }
  admin.defineFromData(jobType)
  return defineSendingJob<XxlJobData>(
    jobType,
    { admin, onTimeout, runOf: (data) => runOfData(data, resultTimeoutMs) },
    {
      ...chosen(options, jobNames),
      isSharded,
      // A run by hand at one address has one part.
      items: (data) => {
        const isWhole = !isSharded(data) || onceOf(data).address !== undefined
        return isWhole ? 1 : admin.countOf(String(data['appName']))
      },
    },
  )
}

function isSharded(data: object): boolean {
  return Reflect.get(data, 'route') === broadcast
}
