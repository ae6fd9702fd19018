import type { JobKey, TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import type {
  ExecutingJob,
  ExecutingShard,
  InterruptTarget,
  JobStoreCluster,
  NodeOrder,
  SchedulerNode,
} from '../cluster-view.ts'
import { nodeNotFound, nodeNotReached } from '../refusals.ts'
import { groupsOfParts, OpenFirings } from '../split-firing.ts'
import { type SqlProgram, together } from './kernel/statement.ts'
import { uniqueKeys } from './programs/steps/settling.ts'
import type { SqlSession } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import type { SqlConnection } from './sql-engine.ts'
import type { FiredRow } from './tables/firings/fired-rows.ts'

interface OpenParts {
  readonly connection: SqlConnection
  readonly transactions: SqlTransactor
}

/** The other nodes, as their rows in the database show them. */
export class SqlCluster implements JobStoreCluster {
  readonly #open: () => OpenParts

  constructor(open: () => OpenParts) {
    this.#open = open
  }

  async nodes(): Promise<readonly SchedulerNode[]> {
    const { connection, transactions } = this.#open()
    const counting = transactions.read(({ firedTriggers }) => firedTriggers.countExecuting())
    const [views, executing] = await Promise.all([connection.nodes?.(transactions) ?? [], counting])
    return views.map(({ instanceId, isSelf, state, lastCheckInTimeMs, checkInIntervalMs, info }) => ({
      instanceId,
      isSelf,
      state,
      lastCheckInTimeMs,
      checkInIntervalMs,
      version: info?.version ?? null,
      host: info?.host ?? null,
      pid: info?.pid ?? null,
      jobTypes: info?.jobTypes ?? null,
      clockOffsetMs: info?.clockOffsetMs ?? null,
      status: info?.status ?? null,
      eventLoopLagMs: info?.eventLoopLagMs ?? null,
      executing: executing.get(instanceId) ?? 0,
    }))
  }

  async executing(): Promise<readonly ExecutingJob[]> {
    const { rows, progress, shardOf } = await this.#open().transactions.read(executing)
    return rows.flatMap(({ jobKey, ...row }) => {
      if (jobKey === null) return []
      const { fireInstanceId, triggerKey, instanceId, firedTimeMs, plannedTimeMs } = row
      return {
        fireInstanceId,
        jobKey,
        triggerKey,
        node: instanceId,
        fireTimeMs: firedTimeMs,
        scheduledFireTimeMs: plannedTimeMs,
        progressText: progress.get(fireInstanceId) ?? null,
        shard: shardOf(jobKey, triggerKey),
      }
    })
  }

  async interrupt(target: InterruptTarget): Promise<void> {
    await this.#open().connection.interruptOnPeers?.(target)
  }

  async order(instanceId: string, order: NodeOrder): Promise<void> {
    const { connection } = this.#open()
    if (connection.orderPeer === undefined) throw nodeNotReached(instanceId)
    await connection.orderPeer(instanceId, order)
  }

  announce(): void {
    try {
      this.#open().connection.announce?.()
    } catch {
      // A store that has been shut down has left the cluster.
    }
  }

  confirmFirings(): Promise<void> | undefined {
    try {
      return this.#open().connection.confirmFirings?.()
    } catch {
      // Of a store that has been shut down, which throws this as well: its node has left, and others take over what it
      // had fired.
      return Promise.resolve().then(() => void this.#open())
    }
  }

  async remove(instanceId: string): Promise<void> {
    const { connection, transactions } = this.#open()
    if (connection.removeNode === undefined) throw nodeNotFound(instanceId)
    await connection.removeNode(transactions, instanceId)
  }
}

interface Executing {
  readonly rows: readonly FiredRow[]
  /** By fire instance id. */
  readonly progress: ReadonlyMap<string, string | null>
  readonly shardOf: (jobKey: JobKey, triggerKey: TriggerKey) => ExecutingShard | null
}

/** The executions in flight. Open firings are read only where one of these may be an item. */
function* executing({ executionProgress, firedTriggers, splitFirings }: SqlSession): SqlProgram<Executing> {
  const [rows, progress] = yield* together(firedTriggers.allExecuting(), executionProgress.load())
  const parts = rows.filter(({ triggerKey }) => groupsOfParts.includes(triggerKey.group))
  const jobKeys = uniqueKeys(parts.flatMap(({ jobKey }) => jobKey ?? []))
  const { found } = yield* splitFirings.load(jobKeys)
  const open = new KeyMap<JobKey, OpenFirings>()
  for (const key of found.keys()) open.set(key, new OpenFirings(found.get(key) ?? []))
  return { rows, progress, shardOf: (jobKey, triggerKey) => open.get(jobKey)?.placeOf(triggerKey) ?? null }
}
