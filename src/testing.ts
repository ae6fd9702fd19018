export { type IdGenerator, seededIds } from './core/ids.ts'
export type { ConformanceCase } from './testing/conformance-case.ts'
export { type JobStoreConformanceOptions, jobStoreConformance } from './testing/job-store/conformance.ts'
export type { ConformanceTriggers } from './testing/job-store/testbed.ts'
export {
  type ThreadPoolConformanceOptions,
  threadPoolConformance,
} from './testing/thread-pool/conformance.ts'
export { ManualClock } from './time/manual-clock.ts'
