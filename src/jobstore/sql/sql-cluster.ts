import type { ExecutingJob, InterruptTarget, JobStoreCluster, SchedulerNode } from '../cluster-view.ts'
import { together } from './kernel/statement.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import type { SqlConnection } from './sql-engine.ts'

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
    const views = (await connection.nodes?.(transactions)) ?? []
    return views.map(({ instanceId, isSelf, state, lastCheckInMs, checkInIntervalMs, info }) => ({
      instanceId,
      isSelf,
      state,
      lastCheckInMs,
      checkInIntervalMs,
      version: info?.version ?? null,
      host: info?.host ?? null,
      pid: info?.pid ?? null,
      jobTypes: info?.jobTypes ?? null,
      clockOffsetMs: info?.clockOffsetMs ?? null,
    }))
  }

  async executing(): Promise<readonly ExecutingJob[]> {
    const [rows, progress] = await this.#open().transactions.read(({ firedTriggers, executionProgress }) =>
      together(firedTriggers.allExecuting(), executionProgress.load()),
    )
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
      }
    })
  }

  async interrupt(target: InterruptTarget): Promise<void> {
    await this.#open().connection.interruptOnPeers?.(target)
  }
}
