import { isJobKey, type JobKey } from '../core/key.ts'
import { packageVersion } from '../core/version.ts'
import type { ExecutingJob, InterruptTarget, SchedulerNode } from '../jobstore/cluster-view.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import type { FireInstance, SchedulerCluster } from './scheduler.ts'
import { checkInterruptTarget } from './scheduler-arguments.ts'
import type { SchedulerEngine } from './scheduler-engine.ts'

export interface ClusterParts {
  readonly store: JobStore
  readonly instanceId: string
  readonly engine: SchedulerEngine
  readonly executing: ExecutingJobs
  readonly jobTypes: () => readonly string[]
}

/** All nodes, as far as the store knows of more than this one. */
export class Cluster implements SchedulerCluster {
  readonly #parts: ClusterParts

  constructor(parts: ClusterParts) {
    this.#parts = parts
  }

  async nodes(): Promise<readonly SchedulerNode[]> {
    const { engine, store } = this.#parts
    engine.requireOpen()
    return store.cluster === null ? [this.#self()] : store.cluster.nodes()
  }

  async executingJobs(): Promise<readonly ExecutingJob[]> {
    const { engine, store, executing, instanceId } = this.#parts
    engine.requireOpen()
    if (store.cluster !== null) return store.cluster.executing()
    return executing.all().map(({ bundle }) => ({
      fireInstanceId: bundle.fireInstanceId,
      jobKey: bundle.jobDetail.key,
      triggerKey: bundle.trigger.key,
      node: instanceId,
      fireTimeMs: bundle.fireTimeMs,
      scheduledFireTimeMs: bundle.scheduledFireTimeMs,
    }))
  }

  /** Interrupts what runs here, and asks the nodes that run the rest. */
  async interrupt(target: JobKey | FireInstance): Promise<boolean> {
    checkInterruptTarget('interrupt', 'target', target)
    const { engine, store, instanceId } = this.#parts
    engine.requireOpen()
    const request: InterruptTarget = isJobKey(target)
      ? { jobKey: target }
      : { fireInstanceId: target.fireInstanceId }
    const isHere = engine.interruptHere(request)
    if (store.cluster === null || (isHere && !('jobKey' in request))) return isHere
    const executing = await store.cluster.executing()
    const isElsewhere = executing.some(({ node, jobKey, fireInstanceId }) => {
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
