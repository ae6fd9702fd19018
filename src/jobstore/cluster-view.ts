import type { JobKey, TriggerKey } from '../core/key.ts'
import type { EpochMs } from '../time/clock.ts'
import type { ShardPlace } from './queries.ts'

/** What a node does by its own account: `draining` is standby of a node that is to end once nothing runs there. */
export type NodeStatus = 'started' | 'standby' | 'draining'

/** What a node can be told: to fire, to fire nothing, or to fire nothing because it is to end. */
export type NodeOrder = 'start' | 'standby' | 'drain'

/** A node of the cluster. */
export interface SchedulerNode {
  readonly instanceId: string
  /** Whether it is the scheduler that was asked. */
  readonly isSelf: boolean
  /**
   * `overdue` when it has missed a check-in; `failed` when it has missed so many that other nodes recover its work
   * next.
   */
  readonly state: 'alive' | 'overdue' | 'failed'
  /** The instant of its last check-in; null where nodes do not check in, because there is one only. */
  readonly lastCheckInTimeMs: EpochMs | null
  readonly checkInIntervalMs: number | null
  /** Of this package. Null for a Java node, as are the fields below. */
  readonly version: string | null
  readonly host: string | null
  readonly pid: number | null
  /** The job types whose code it has and which it runs: none where its thread pool has no slots. */
  readonly jobTypes: readonly string[] | null
  /** How far the database's time is ahead of the node's clock; null while that is not known. */
  readonly clockOffsetMs: number | null
  /** Null also for a node of an older version. */
  readonly status: NodeStatus | null
  /**
   * How late its event loop runs timers: of a hundred, the second latest, in the last half minute or so. Milliseconds.
   * For other nodes as of their last check-in; null while that is not known.
   */
  readonly eventLoopLagMs: number | null
  /** How many executions are in flight there; those that go on elsewhere count for the node that sent them. */
  readonly executing: number
}

/** Which item of which sharded firing, of how many. */
export interface ExecutingShard extends ShardPlace {
  /** How many items the firing has. */
  readonly total: number
}

/** An execution in flight, on any node. */
export interface ExecutingJob {
  readonly fireInstanceId: string
  readonly jobKey: JobKey
  readonly triggerKey: TriggerKey
  /** The instance id of the node that runs it. */
  readonly node: string
  readonly fireTimeMs: EpochMs
  readonly scheduledFireTimeMs: EpochMs
  /** What it last said of its progress, as JSON, about a second old on other nodes; null when it said nothing. */
  readonly progressText: string | null
  /** Of the sharded firing that it is a part of; null for any other execution. */
  readonly shard: ExecutingShard | null
}

/** Which executions are to stop: those of a job, or one. */
export type InterruptTarget = { readonly jobKey: JobKey } | { readonly fireInstanceId: string }

/**
 * The job types that some node has the code of which has not failed; null when one does not say what it has, such as a
 * node of Java.
 */
export function jobTypesOfLiving(nodes: readonly SchedulerNode[]): ReadonlySet<string> | null {
  const living = nodes.filter(({ state }) => state !== 'failed')
  if (living.some(({ jobTypes }) => jobTypes === null)) return null
  return new Set(living.flatMap(({ jobTypes }) => jobTypes ?? []))
}

/** What a node tells the others about itself. */
export type NodeReport = Pick<SchedulerNode, 'status' | 'eventLoopLagMs'>

/** What a node that was told to start, to stand by or to drain has done. */
export interface NodeChange {
  /** False when it was so already. */
  readonly changed: boolean
  /** Whether the node reports it. False: it was asked, and may not have heard. */
  readonly confirmed: boolean
  /** As it is now. */
  readonly node: SchedulerNode
}

/** What a store passes on that other nodes ask of this one. */
export interface NodeRequests {
  /** Another node asks to interrupt executions that may run here. */
  interruptRequested(target: InterruptTarget): void
  /** Another node asks this one to start, to stand by or to drain. */
  nodeOrdered(order: NodeOrder): void
}

/** What a store knows about the other nodes that work on its data. */
export interface JobStoreCluster {
  /** Every node, this one included once it was started; failed ones until they are recovered. */
  nodes(): Promise<readonly SchedulerNode[]>
  /** The executions in flight on every node. */
  executing(): Promise<readonly ExecutingJob[]>
  /** Asks the other nodes to interrupt; nodes that do not listen to others are not reached. */
  interrupt(target: InterruptTarget): Promise<void>
  /** Asks another node; one that does not listen to others does not hear it. What it reports says that it did. */
  order(instanceId: string, order: NodeOrder): Promise<void>
  /** Has the other nodes know soon what this one reports. Returns at once and never throws. */
  announce(): void
  /**
   * Asked right before a job begins: undefined while it is certain that no other node has taken over the firings of
   * this one. Else it resolves when that is certain again, however long that takes; `recoveredByPeer` has told before
   * where others had taken them over, and it is asked again, until it answers undefined. Absent where that is never in
   * doubt. Does not throw at once.
   *
   * @throws SchedulerError ERR_SCHEDULER_SHUTDOWN when the store is shut down, or shuts down meanwhile
   */
  confirmFirings?(): Promise<void> | undefined
  /**
   * Recovers the work of another node that has missed check-ins, and forgets the node.
   *
   * @throws SchedulerError ERR_NOT_FOUND when there is none, ERR_NODE_ALIVE when it checks in
   */
  remove(instanceId: string): Promise<void>
}
