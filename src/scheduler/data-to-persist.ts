import { copyJobData, hasReservedData, type JobDataMap, refuseReservedKeys } from '../core/job-data-map.ts'
import type { ExecutionContext } from './execution-context.ts'

/**
 * The data that an execution leaves for the store, or null when the job has changed none: what others have stored
 * meanwhile stays.
 *
 * @throws SchedulerError ERR_INVALID_JOB_DATA or ERR_JOB_DATA_TOO_LARGE for data that cannot be stored
 */
export function dataToPersist(context: ExecutionContext, maxJobDataBytes: number): JobDataMap | null {
  const { bundle, changedJobData, jobDataRefusal } = context
  const { jobDataMap: given, key, persistJobDataAfterExecution } = bundle.jobDetail
  if (!persistJobDataAfterExecution) return null
  if (jobDataRefusal !== null) throw jobDataRefusal.error
  if (changedJobData === null) return null
  const owner = `job ${key.toString()}`
  const data = copyJobData(owner, changedJobData, maxJobDataBytes)
  if (JSON.stringify(data) === JSON.stringify(given)) return null
  if (hasReservedData(data)) {
    // Stored ones, as by Java, may stay: the job has not set them.
    const isChanged = (name: string): boolean => JSON.stringify(data[name]) !== JSON.stringify(given[name])
    refuseReservedKeys(owner, Object.keys(data).filter(isChanged))
  }
  return data
}
