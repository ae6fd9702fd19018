import type { FailureSeries } from '../../failure-series.ts'
import type { JobStoreContext } from '../../job-store.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import type { NodeLocking, NodeRow } from '../tables/nodes/node-row.ts'
import type { Roll } from '../tables/nodes/scheduler-state-table.ts'
import type { ItemsOfGone } from './items-of-gone.ts'
import { settleAllLostItems } from './lost-items.ts'
import { NodeNews } from './node-news.ts'
import type { NodeWatch } from './node-watch.ts'
import { limitsToTell, warnOfOtherLimits } from './other-limits.ts'
import { warnOfOtherLocking } from './other-locking.ts'
import { recoverNode } from './recovery.ts'
import { freeStuckTriggers } from './stuck-triggers.ts'
import { UnknownFirings } from './unknown-firings.ts'

export interface NodeDutiesParts {
  readonly transactor: SqlTransactor
  readonly watch: NodeWatch
  readonly itemsOfGone: ItemsOfGone
  readonly locking: NodeLocking | null
  readonly sweepIntervalMs: number
}

/** Something that is tried at each check-in until it succeeds, and what is said when it fails and when it is over. */
interface Duty {
  readonly carryOut: () => Promise<void>
  readonly failures: FailureSeries
  readonly failed: string
  readonly ended: string
}

/**
 * What a node does for its cluster after each check-in, in this order: it warns of nodes that do not go with it,
 * recovers those that have failed, ends what only nodes that are gone might run, settles firings of its own that it
 * does not know, and from time to time looks for triggers that are stuck.
 */
export class NodeDuties {
  readonly #parts: NodeDutiesParts
  readonly #context: JobStoreContext
  readonly #news: NodeNews
  readonly #unknown: UnknownFirings
  #tending: Promise<void> | null = null
  #sweptMs = Number.NEGATIVE_INFINITY
  #isStopped = false
  #isCutOff = false

  constructor(parts: NodeDutiesParts) {
    this.#parts = parts
    this.#context = parts.transactor.session.context
    this.#news = new NodeNews(this.#context)
    this.#unknown = new UnknownFirings(parts.transactor)
  }

  /** Begins nothing any more; answers what is under way. */
  stop(): Promise<void> | null {
    this.#isStopped = true
    return this.#tending
  }

  /** What is given up then says nothing of its own: the shutdown reports what was left. */
  cutOff(): void {
    this.#isStopped = true
    this.#isCutOff = true
  }

  /** To be called at each check-in: does nothing while the duties of the one before are under way. */
  tend(roll: Roll): void {
    this.#tending ??= this.#tend(roll).finally(() => {
      this.#tending = null
    })
  }

  async #tend(roll: Roll): Promise<void> {
    const { instanceId, clock } = this.#context
    const { sweepIntervalMs, watch } = this.#parts
    this.#warn(roll)
    for (const row of roll.rows) {
      if (this.#isStopped) return
      if (row.instanceId === instanceId || watch.state(row, roll.nowMs) !== 'failed') continue
      await this.#recover(row)
    }
    if (!this.#isStopped) await this.#do(this.#itemsOfGone)
    if (!this.#isStopped) await this.#do(this.#unknownFirings)
    const isDue = clock.elapsedMs() - this.#sweptMs >= sweepIntervalMs
    if (isDue && !this.#isStopped) await this.sweep()
  }

  async #do({ carryOut, failures, failed, ended }: Duty): Promise<void> {
    try {
      await carryOut()
      failures.end(ended)
    } catch (error) {
      if (!this.#isCutOff) failures.add(failed, error)
    }
  }

  readonly #isWanted = (): boolean => !this.#isStopped

  #warn({ rows, nowMs }: Roll): void {
    const { instanceId, logger } = this.#context
    const { transactor, watch } = this.#parts
    this.warnOfOtherLocking({ rows, nowMs })
    const alive = rows.filter((row) => watch.state(row, nowMs) !== 'failed')
    const limits = limitsToTell(transactor.session)
    warnOfOtherLimits(alive, { instanceId, limits }, { logger, news: this.#news })
    this.#news.keep(rows)
  }

  /** Reports once each node whose way of locking does not exclude this node's. */
  warnOfOtherLocking(roll: Roll): void {
    const { instanceId, signaler } = this.#context
    const { locking, watch } = this.#parts
    if (locking !== null)
      warnOfOtherLocking(roll, { instanceId, locking }, { signaler, watch, news: this.#news })
  }

  async #recover(row: NodeRow): Promise<void> {
    const { transactor } = this.#parts
    const { instanceId, isOrphan } = row
    if (!isOrphan && this.#news.isNews(row, 'failed')) this.#context.signaler.nodeFailed(instanceId)
    await this.#do({
      carryOut: async () => {
        await transactor.run((tx) => recoverNode(tx, row), { lock: 'cluster' })
        await settleAllLostItems(transactor, this.#isWanted)
      },
      failures: this.#news.recovery(row),
      failed: `Node '${instanceId}' failed and could not be recovered; it is tried again.`,
      ended: `Node '${instanceId}' was recovered after all.`,
    })
  }

  get #itemsOfGone(): Duty {
    return {
      carryOut: () => this.#parts.itemsOfGone.settle(this.#isWanted),
      failures: this.#news.settling,
      failed: 'The items of nodes that are gone could not be ended.',
      ended: 'The items of nodes that are gone are ended again.',
    }
  }

  get #unknownFirings(): Duty {
    const what = 'The firings that the database has of this node'
    return {
      carryOut: () => this.#unknown.settle(),
      failures: this.#news.comparing,
      failed: `${what} could not be compared with those that it runs.`,
      ended: `${what} are compared again with those that it runs.`,
    }
  }

  /** Looks for triggers without their claim or execution, which may read the whole table. */
  async sweep(): Promise<void> {
    this.#sweptMs = this.#context.clock.elapsedMs()
    await this.#do({
      carryOut: () => this.#freeStuck(),
      failures: this.#news.sweeping,
      failed: 'Triggers without their claim or execution could not be looked for.',
      ended: 'Triggers without their claim or execution are looked for again.',
    })
  }

  async #freeStuck(): Promise<void> {
    const { transactor } = this.#parts
    // It goes through all triggers: without the lock of the cluster, and by sequential scans where they are quicker.
    const isStuck = await transactor.read(({ keyLists }) => keyLists.hasStuck())
    const free = () => transactor.run(freeStuckTriggers, { lock: 'cluster' })
    while (isStuck && !this.#isStopped && (await free()));
    if (!this.#isStopped) await settleAllLostItems(transactor, this.#isWanted)
  }
}
