import { checkFunction } from '../core/arguments.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import { isJobKey, type JobKey } from '../core/key.ts'
import { packageVersion } from '../core/version.ts'
import type {
  ExecutingJob,
  ExecutingShard,
  InterruptTarget,
  SchedulerNode,
} from '../jobstore/cluster-view.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import { progressTextOf } from './execution-report.ts'
import type { RemoteExecutions } from './remote-executions.ts'
import type { FireInstance, SchedulerCluster } from './scheduler.ts'
import { checkInterruptTarget } from './scheduler-arguments.ts'

export interface ClusterParts {
  readonly store: JobStore
  readonly instanceId: string
  readonly executing: ExecutingJobs
  readonly remotes: RemoteExecutions
  readonly jobTypes: () => readonly string[]
  /** Whether it has no threads and was never started: then it is no node. */
  readonly isLookingOn: () => boolean
  /** Throws once the scheduler has been shut down. */
  readonly requireOpen: () => void
}

/** All nodes that the store knows; this node alone, if it is one, when the store has no cluster. */
export class Cluster implements SchedulerCluster {
  readonly #parts: ClusterParts

  constructor(parts: ClusterParts) {
    this.#parts = parts
  }

  async nodes(): Promise<readonly SchedulerNode[]> {
    const { store, isLookingOn, requireOpen } = this.#parts
    requireOpen()
    if (store.cluster !== null) return store.cluster.nodes()
    return isLookingOn() ? [] : [this.#self()]
  }

  async executingJobs(): Promise<readonly ExecutingJob[]> {
    const { store, executing, instanceId, requireOpen } = this.#parts
    requireOpen()
    if (store.cluster !== null) return store.cluster.executing()
    const own = executing.all().map(({ bundle, lastProgress }) => {
      const progressText = lastProgress === null ? null : progressTextOf(lastProgress.value)
      return executingJob(bundle, instanceId, progressText)
    })
    const known = new Set(own.map(({ fireInstanceId }) => fireInstanceId))
    const elsewhere = (await store.awaitedResults?.inFlight()) ?? []
    const others = elsewhere.filter(({ bundle }) => !known.has(bundle.fireInstanceId))
    return [...own, ...others.map(({ bundle }) => executingJob(bundle, instanceId, null))]
  }

  onChange(listener: () => void): () => void {
    checkFunction('onChange', 'listener', listener)
    const { store, requireOpen } = this.#parts
    requireOpen()
    return store.changes?.watch(listener) ?? (() => {})
  }

  /** Interrupts what runs here, and asks the nodes that run the rest. */
  async interrupt(target: JobKey | FireInstance): Promise<boolean> {
    checkInterruptTarget('interrupt', 'target', target)
    const { store, executing, instanceId, requireOpen } = this.#parts
    requireOpen()
    const request: InterruptTarget = isJobKey(target)
      ? { jobKey: target }
      : { fireInstanceId: target.fireInstanceId }
    const isRunning = executing.interrupt(request)
    // After what runs here: a job that is just sending then ends by itself.
    const isHere = (await this.#parts.remotes.interrupt(request)) || isRunning
    if (store.cluster === null || (isHere && !('jobKey' in request))) return isHere
    const onNodes = await store.cluster.executing()
    const isElsewhere = onNodes.some(({ node, jobKey, fireInstanceId }) => {
      if (node === instanceId) return false
      return 'jobKey' in request ? jobKey.equals(request.jobKey) : fireInstanceId === request.fireInstanceId
    })
    if (isElsewhere) await store.cluster.interrupt(request)
    return isHere || isElsewhere
  }

  #self(): SchedulerNode {
    const { instanceId, jobTypes } = this.#parts
    return {
      instanceId,
      isSelf: true,
      state: 'alive',
      lastCheckInMs: null,
      checkInIntervalMs: null,
      version: packageVersion,
      host: null,
      pid: null,
      jobTypes: jobTypes(),
      clockOffsetMs: null,
    }
  }
}

function executingJob(bundle: TriggerFiredBundle, node: string, progressText: string | null): ExecutingJob {
  const { fireInstanceId, jobDetail, trigger, fireTimeMs, scheduledFireTimeMs } = bundle
  return {
    fireInstanceId,
    jobKey: jobDetail.key,
    triggerKey: trigger.key,
    node,
    fireTimeMs,
    scheduledFireTimeMs,
    progressText,
    shard: shardOf(trigger.jobDataMap),
  }
}

function shardOf(data: JobDataMap): ExecutingShard | null {
  const part = firingPartOf(data)
  return part && { firingId: part.firingId, item: part.item, total: part.total }
}
