import { refuseUnknownKeys } from '../core/options.ts'
import { requirePoolSize, SlotPool } from './slot-pool.ts'
import type { ThreadPool } from './thread-pool.ts'

export interface InProcessThreadPoolOptions {
  /** Most executions at one time, 1 to 100,000. Default 10. */
  readonly size?: number
}

/** Default number of slots, as in Quartz. */
export const defaultPoolSize = 10

/**
 * Runs inline jobs and class jobs on the event loop, and no worker jobs. An interrupt aborts the job's `signal`; a job
 * that ignores it cannot be ended.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function inProcessThreadPool(options: InProcessThreadPoolOptions = {}): ThreadPool {
  refuseUnknownKeys('inProcessThreadPool', options, ['size'])
  return new SlotPool('in-process', requirePoolSize('inProcessThreadPool', options.size ?? defaultPoolSize))
}

/** Runs nothing: for a node that only schedules. */
export function zeroSizeThreadPool(): ThreadPool {
  return new SlotPool('zero-size', 0)
}
