import { benchmark as acquire } from './acquire.mjs'
import { benchmark as intervals } from './intervals.mjs'
import { benchmark as lateness } from './lateness.mjs'
import { benchmark as memory } from './memory.mjs'
import { benchmark as nextFire } from './next-fire.mjs'
import { benchmark as ramFires } from './ram-fires.mjs'
import { benchmark as scheduleCalls } from './schedule-calls.mjs'
import { benchmark as stall } from './stall.mjs'
import { benchmark as workerJobs } from './worker-jobs.mjs'

/** All benchmarks, in the order in which they run. */
export const benchmarks = [
  nextFire,
  ramFires,
  scheduleCalls,
  lateness,
  memory,
  acquire,
  workerJobs,
  stall,
  intervals,
]
