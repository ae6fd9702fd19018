import { benchmark as acquire } from './acquire.mjs'
import { benchmark as dashboard } from './dashboard.mjs'
import { alive, cancelled, engines, fired, reschedule } from './executors.mjs'
import { benchmark as coldImport } from './import.mjs'
import { benchmark as intervals } from './intervals.mjs'
import { benchmark as lateness } from './lateness.mjs'
import { benchmark as memory } from './memory.mjs'
import { benchmark as metrics } from './metrics.mjs'
import { benchmark as nextFire } from './next-fire.mjs'
import { benchmark as pgBeside } from './pg-beside.mjs'
import { benchmark as pgCallers } from './pg-callers.mjs'
import { failover, latency, twoNodes } from './pg-cluster.mjs'
import { benchmark as pgFires, repeatingBenchmark as pgRepeating } from './pg-fires.mjs'
import { idle, nodes } from './pg-nodes.mjs'
import { benchmark as ramFires } from './ram-fires.mjs'
import { benchmark as records } from './records.mjs'
import { benchmark as scheduleCalls } from './schedule-calls.mjs'
import { benchmark as serverLists } from './server-lists.mjs'
import { benchmark as serverLive } from './server-live.mjs'
import { benchmark as serverOpen } from './server-open.mjs'
import { firing as sharding, takeOver } from './sharding.mjs'
import { benchmark as sqlChanges } from './sql-changes.mjs'
import { benchmark as sqlLateness } from './sql-lateness.mjs'
import { benchmark as sqlSchedule } from './sql-schedule.mjs'
import { benchmark as sqlSkipped } from './sql-skipped.mjs'
import { benchmark as sqlStored } from './sql-stored.mjs'
import { benchmark as sqliteFires } from './sqlite-fires.mjs'
import { benchmark as stall } from './stall.mjs'
import { benchmark as workerJobs } from './worker-jobs.mjs'
import { beats as xxlBeats, dispatch as xxlDispatch, lateness as xxlLateness } from './xxl-dispatch.mjs'

/** All benchmarks, in the order in which they run. */
export const benchmarks = [
  nextFire,
  ramFires,
  scheduleCalls,
  lateness,
  memory,
  coldImport,
  acquire,
  workerJobs,
  stall,
  intervals,
  alive,
  cancelled,
  fired,
  engines,
  reschedule,
  sqliteFires,
  metrics,
  pgFires,
  pgRepeating,
  records,
  twoNodes,
  nodes,
  idle,
  sqlSchedule,
  latency,
  sqlLateness,
  sqlChanges,
  sqlStored,
  sqlSkipped,
  pgBeside,
  pgCallers,
  failover,
  sharding,
  takeOver,
  xxlDispatch,
  xxlLateness,
  xxlBeats,
  serverLists,
  serverLive,
  serverOpen,
  dashboard,
]
