import { checkFunction, checkName } from '../core/arguments.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import { isJobKey, type JobKey } from '../core/key.ts'
import { packageVersion } from '../core/version.ts'
import { awaitedResultsAtOnce } from '../jobstore/awaited-results.ts'
import type {
  ExecutingJob,
  ExecutingShard,
  InterruptTarget,
  NodeChange,
  NodeOrder,
  NodeReport,
  NodeStatus,
  SchedulerNode,
} from '../jobstore/cluster-view.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { nodeAlive, nodeNotFound, nodeNotReached } from '../jobstore/refusals.ts'
import type { Clock } from '../time/clock.ts'
import { pause } from '../time/pause.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import { progressTextOf } from './execution-report.ts'
import type { Notifier } from './notifier.ts'
import type { RemoteExecutions } from './remote-executions.ts'
import type { FireInstance, SchedulerCluster } from './scheduler.ts'
import { checkInterruptTarget } from './scheduler-arguments.ts'

export interface ClusterParts {
  readonly store: JobStore
  readonly instanceId: string
  readonly executing: ExecutingJobs
  readonly remotes: RemoteExecutions
  readonly notifier: Notifier
  readonly jobTypes: () => readonly string[]
  readonly nodeReport: () => NodeReport
  readonly clock: Clock
  /** Starts this scheduler, or has it stand by or drain. */
  readonly carryOut: (order: NodeOrder) => Promise<void>
  /** Whether it has no threads and was never started: then it is no node. */
  readonly isLookingOn: () => boolean
  /** Throws once the scheduler has been shut down. */
  readonly requireOpen: () => void
}

const statusAfter: Readonly<Record<NodeOrder, NodeStatus>> = {
  start: 'started',
  standby: 'standby',
  drain: 'draining',
}

/** For how long, and how often, to look whether another node reports what it was asked for. */
const confirmWithinMs = 3000
const confirmEveryMs = 100

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
    const elsewhere: ExecutingJob[] = []
    for (let skip = 0; store.awaitedResults !== null; skip += awaitedResultsAtOnce) {
      const { results, seen } = await store.awaitedResults.inFlight(skip)
      const others = results.filter(({ bundle }) => !known.has(bundle.fireInstanceId))
      for (const { bundle } of others) {
        known.add(bundle.fireInstanceId)
        elsewhere.push(executingJob(bundle, instanceId, null))
      }
      if (seen < awaitedResultsAtOnce) break
    }
    return [...own, ...elsewhere]
  }

  onChange(listener: () => void): () => void {
    checkFunction('onChange', 'listener', listener)
    const { store, requireOpen } = this.#parts
    requireOpen()
    return store.changes?.watch(listener) ?? (() => {})
  }

  async start(instanceId: string): Promise<NodeChange> {
    return this.#steer('start', instanceId, 'start')
  }
  async standby(instanceId: string): Promise<NodeChange> {
    return this.#steer('standby', instanceId, 'standby')
  }
  async drain(instanceId: string): Promise<NodeChange> {
    return this.#steer('drain', instanceId, 'drain')
  }

  async remove(instanceId: string): Promise<void> {
    checkName('remove', 'instanceId', instanceId)
    const { store, requireOpen } = this.#parts
    requireOpen()
    if (instanceId === this.#parts.instanceId) throw nodeAlive(instanceId)
    if (store.cluster === null) throw nodeNotFound(instanceId)
    await store.cluster.remove(instanceId)
  }

  /** Another node asks this one. */
  async ordered(order: NodeOrder): Promise<void> {
    if (!isDone(order, this.#parts.nodeReport())) await this.#parts.carryOut(order)
  }

  async #steer(method: string, instanceId: string, order: NodeOrder): Promise<NodeChange> {
    checkName(method, 'instanceId', instanceId)
    if (instanceId === this.#parts.instanceId) return this.#steerSelf(order)
    const node = await this.#find(instanceId)
    if (isDone(order, node)) return { changed: false, confirmed: true, node }
    const { clock, store } = this.#parts
    // A node of Java says nothing of itself.
    if (store.cluster === null || node.version === null) throw nodeNotReached(instanceId)
    await store.cluster.order(instanceId, order)
    const untilMs = clock.elapsedMs() + confirmWithinMs
    for (;;) {
      const seen = await this.#find(instanceId)
      if (isDone(order, seen)) return { changed: true, confirmed: true, node: seen }
      if (clock.elapsedMs() >= untilMs) return { changed: true, confirmed: false, node: seen }
      await pause(clock, confirmEveryMs)
    }
  }

  async #steerSelf(order: NodeOrder): Promise<NodeChange> {
    const { carryOut, instanceId, nodeReport } = this.#parts
    const changed = !isDone(order, nodeReport())
    if (changed) await carryOut(order)
    const listed = (await this.nodes()).find((node) => node.instanceId === instanceId)
    return { changed, confirmed: true, node: listed ?? this.#self() }
  }

  /** @throws SchedulerError ERR_NOT_FOUND */
  async #find(instanceId: string): Promise<SchedulerNode> {
    const node = (await this.nodes()).find((each) => each.instanceId === instanceId)
    if (node === undefined) throw nodeNotFound(instanceId)
    return node
  }

  /** Interrupts what runs here, and asks the nodes that run the rest. */
  async interrupt(target: JobKey | FireInstance): Promise<boolean> {
    checkInterruptTarget('interrupt', 'target', target)
    const { executing, notifier, requireOpen } = this.#parts
    requireOpen()
    const request: InterruptTarget = isJobKey(target)
      ? { jobKey: target }
      : { fireInstanceId: target.fireInstanceId }
    const isRunning = executing.interrupt(request)
    try {
      return await this.#interruptElsewhere(request, isRunning)
    } catch (error) {
      // What runs here has been asked, whatever becomes of the rest.
      if (!isRunning) throw error
      notifier.error('Executions that run here were interrupted, but other nodes could not be asked.', error)
      return true
    }
  }

  /** Interrupts what goes on elsewhere, and asks the nodes that run the rest. */
  async #interruptElsewhere(request: InterruptTarget, isRunning: boolean): Promise<boolean> {
    const { store, instanceId } = this.#parts
    // After what runs here: one whose row is not written yet is refused by `awaitResult`, and ends by itself.
    const { remotes } = this.#parts
    const remote = await remotes.interrupt(request, async (jobTypes) => {
      if (jobTypes.every((jobType) => remotes.knows(jobType))) return jobTypes
      const nodes = await this.nodes()
      // It is this node also where the job type is registered here, but is not that of a remote job any more.
      return jobTypes.filter(
        (jobType) => remotes.knows(jobType) || (nodeToStop(jobType, nodes)?.isSelf ?? true),
      )
    })
    const isHere = remote.hasEnded || isRunning
    if (store.cluster === null || (isHere && !('jobKey' in request))) return isHere
    if (remote.isLeft) {
      await store.cluster.interrupt(request)
      return true
    }
    const onNodes = await store.cluster.executing()
    const isElsewhere = onNodes.some(({ node, jobKey, fireInstanceId }) => {
      if (node === instanceId) return false
      return 'jobKey' in request ? jobKey.equals(request.jobKey) : fireInstanceId === request.fireInstanceId
    })
    if (isElsewhere) await store.cluster.interrupt(request)
    return isHere || isElsewhere
  }

  /** Another node asks this one, and all others that may run it. */
  async interruptAsked(target: InterruptTarget): Promise<void> {
    const { executing, remotes } = this.#parts
    executing.interrupt(target)
    await remotes.interrupt(target, async (jobTypes) => {
      const nodes = await this.nodes()
      return jobTypes.filter((jobType) => nodeToStop(jobType, nodes)?.isSelf)
    })
  }

  #self(): SchedulerNode {
    const { executing, instanceId, jobTypes, nodeReport } = this.#parts
    return {
      instanceId,
      isSelf: true,
      state: 'alive',
      lastCheckInTimeMs: null,
      checkInIntervalMs: null,
      version: packageVersion,
      host: null,
      pid: null,
      jobTypes: jobTypes(),
      clockOffsetMs: null,
      executing: executing.count,
      ...nodeReport(),
    }
  }
}

/** Of the nodes that have the code of a remote job, the one that has its firings stopped when another node asks. */
function nodeToStop(jobType: string, nodes: readonly SchedulerNode[]): SchedulerNode | undefined {
  const able = nodes.filter(
    ({ jobTypes, state }) => state !== 'failed' && jobTypes?.includes(jobType) === true,
  )
  return able.toSorted((one, other) => (one.instanceId < other.instanceId ? -1 : 1))[0]
}

/** A node that drains is in standby. */
function isDone(order: NodeOrder, { status }: Pick<SchedulerNode, 'status'>): boolean {
  return status === statusAfter[order] || (order === 'standby' && status === 'draining')
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
