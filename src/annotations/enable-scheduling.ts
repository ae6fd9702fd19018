import { type ClusterScheduling, enableClusterScheduling } from './cluster/cluster-scheduling.ts'
import { enableLocalScheduling, type Scheduling } from './local-scheduling.ts'
import { type ClusterSchedulingOptions, isClustered, type SchedulingOptions } from './scheduling-options.ts'

/**
 * Runs the `@Scheduled` methods of objects. With a `cluster` they become durable jobs of that scheduler, and each
 * planned time runs once, on one of the instances that share its store; otherwise they run in this process.
 *
 * @example
 * await using scheduling = await enableScheduling({ instances: [new Reports()] })
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for a wrong option or schedule, a placeholder without a value, or an
 *   object that has no `@Scheduled` method
 * @throws CronExpressionError
 * @throws SchedulerError ERR_SCHEDULER_STATE when the cluster's scheduler was started already
 */
export function enableScheduling(options: ClusterSchedulingOptions): Promise<ClusterScheduling>
export function enableScheduling(options: SchedulingOptions): Promise<Scheduling>
export function enableScheduling(
  options: SchedulingOptions | ClusterSchedulingOptions,
): Promise<Scheduling | ClusterScheduling> {
  return isClustered(options) ? enableClusterScheduling(options) : enableLocalScheduling(options)
}
