import { JobPersistenceError, SchedulerError } from '../../../core/errors.ts'
import { unawaited } from '../../../core/promises.ts'
import type { EpochMs } from '../../../time/clock.ts'
import { Gate } from '../../../time/gate.ts'
import type { JobStoreContext } from '../../job-store.ts'
import { run } from '../kernel/statement.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import type { NodeInfo, NodeLocking, NodeRow } from '../tables/nodes/node-row.ts'
import type { Roll } from '../tables/nodes/scheduler-state-table.ts'
import {
  type CheckIn,
  type CheckInDriver,
  type CheckInObserver,
  type CheckInOrders,
  checkInOver,
} from './check-in.ts'
import type { ResolvedClusterOptions } from './cluster-options.ts'
import { ItemsOfGone } from './items-of-gone.ts'
import { offerAllItemsOfGone } from './lost-items.ts'
import { NodeDuties } from './node-duties.ts'
import { NodeTrust } from './node-trust.ts'
import { type NodeState, NodeWatch } from './node-watch.ts'
import { OwnNode } from './own-node.ts'
import { admission, register } from './registration.ts'
import { removeNode } from './removal.ts'
import type { WitnessLook } from './witness.ts'

export interface ClusterNodeOptions extends ResolvedClusterOptions {
  /** Null where the database has one way of locking only. */
  readonly locking: NodeLocking | null
  /**
   * How often to look for claimed triggers without a fired-trigger row; the search may read the whole table.
   * Milliseconds.
   */
  readonly sweepIntervalMs: number
}

/** A node of the cluster, as this node sees it. */
export interface ClusterNodeView {
  readonly instanceId: string
  readonly isSelf: boolean
  /** Whether it has failed by the rule of recovery. */
  readonly state: NodeState
  readonly lastCheckInTimeMs: EpochMs
  readonly checkInIntervalMs: number
  /** Null for a node of Java. */
  readonly info: NodeInfo | null
}

/**
 * This scheduler as a node of its cluster: registers, checks in, and learns from each check-in whether it may still
 * claim triggers and which nodes have failed, whose work its duties recover. A node that was recovered by a peer learns
 * it from its next check-in, and registers anew.
 */
export class ClusterNode implements CheckInObserver {
  readonly #transactor: SqlTransactor
  readonly #context: JobStoreContext
  readonly #options: ClusterNodeOptions
  readonly #driver: CheckInDriver
  readonly #watch: NodeWatch
  readonly #gate: Gate
  readonly #trust: NodeTrust
  readonly #itemsOfGone: ItemsOfGone
  readonly #own: OwnNode
  readonly #duties: NodeDuties
  #bootId: string | null = null
  #entering: Promise<void> | null = null
  readonly #outcomes: (() => void)[] = []
  /** The rows of the last look. */
  #rows: readonly NodeRow[] = []
  #failures = 0
  #isStopped = false
  #isCutOff = false

  constructor(transactor: SqlTransactor, options: ClusterNodeOptions, driver: CheckInDriver) {
    this.#transactor = transactor
    this.#context = transactor.session.context
    this.#options = options
    this.#driver = driver
    this.#watch = new NodeWatch(options)
    this.#trust = new NodeTrust(options)
    this.#gate = new Gate(this.#context.clock)
    this.#itemsOfGone = new ItemsOfGone(transactor, options.failedAfterMs)
    this.#own = new OwnNode(transactor, options)
    this.#duties = new NodeDuties({
      transactor,
      watch: this.#watch,
      itemsOfGone: this.#itemsOfGone,
      locking: options.locking,
      sweepIntervalMs: options.sweepIntervalMs,
    })
  }

  /**
   * Registers the node and begins to check in.
   *
   * @throws JobPersistenceError ERR_DUPLICATE_INSTANCE_ID, ERR_MIXED_LOCKING, or the error of the database
   */
  async start(): Promise<void> {
    this.#transactor.session.nodeHealth.isAlive = (row, nowMs) => this.#watch.state(row, nowMs) !== 'failed'
    this.#entering = this.#enter({ isStart: true })
    await this.#entering
    if (this.#isStopped) return
    this.#driver.start(this, this.#orders())
    await this.#duties.sweep()
  }

  async #enter({ isStart }: { readonly isStart: boolean }): Promise<void> {
    const { clock, ids } = this.#context
    const bootId = ids.uniqueName().slice(0, 80)
    const own = this.#own.row(bootId)
    while (!this.#isStopped) {
      const roll = await this.#own.look()
      this.#observe(roll)
      const admitted = admission(own, roll, this.#watch)
      if (admitted.kind === 'refused') throw admitted.error
      if (admitted.kind === 'free') {
        const { predecessor } = admitted
        const sentMs = clock.elapsedMs()
        const isEntered = await this.#transactor.run((tx) => register(tx, own, { predecessor, isStart }), {
          lock: 'cluster',
          onDoubt: 'patient',
          wasCommitted: 'runAgain',
        })
        if (isEntered) {
          this.#bootId = bootId
          this.#own.registered(bootId)
          this.#trust.checkedIn(sentMs, 'unknown')
          this.#duties.warnOfOtherLocking(roll)
          return
        }
      }
      await this.#gate.wait(this.#options.checkInIntervalMs)
    }
  }

  #orders(): CheckInOrders {
    return this.#own.orders(this.#bootId ?? '', () => this.#rows)
  }

  checkedIn(checkIn: CheckIn): void {
    if (checkIn.bootId !== this.#bootId) return
    if (this.#failures > 0) this.#context.signaler.checkInRestored(this.#failures)
    this.#failures = 0
    if (!checkIn.isOurs) {
      this.#bootId = null
      this.#transactor.session.nodeHealth.timesRecovered++
      this.#context.signaler.recoveredByPeer()
      this.#entering = this.#enterAnew()
      return
    }
    this.#trust.checkedIn(checkIn.sentMs, checkIn.witness)
    const roll = this.#own.rollOf(checkIn)
    this.#observe(roll)
    this.#duties.tend(roll)
    this.#settleIfTrusted()
    // An answer that took so long that it says too little: callers would wait for the next regular check-in.
    if (this.#outcomes.length > 0) this.#driver.hurry()
  }

  /** After a recovery by a peer: tries to register until it succeeds, because the node can claim nothing before. */
  async #enterAnew(): Promise<void> {
    const { signaler, instanceId } = this.#context
    for (let isFirst = true; !this.#isStopped; isFirst = false) {
      try {
        await this.#enter({ isStart: false })
        if (this.#bootId !== null) this.#driver.order(this.#orders())
        break
      } catch (error) {
        if (isFirst)
          signaler.storeError(`Node '${instanceId}' could not take part in the cluster anew.`, error)
        this.#settle()
        await this.#gate.wait(this.#options.checkInIntervalMs)
      }
    }
    this.#settle()
  }

  #observe(roll: Roll): void {
    this.#itemsOfGone.observe(this.#rows, roll.rows)
    this.#watch.observe(roll)
    this.#rows = roll.rows
  }

  checkInFailed(error: unknown): void {
    this.#failures++
    if (this.#failures === 1) this.#context.signaler.checkInFailed(error)
    this.#settle()
  }

  looked(look: WitnessLook): void {
    this.#trust.proven(look.sentMs)
    // A node that has failed by this look may have checked in since its row was read.
    if (this.#watch.witnessed(look, this.#rows)) this.#driver.hurry()
    this.#settleIfTrusted()
  }

  /**
   * Peers see that the witness is gone. The node writes that it has none, over the store's own connections: the thread
   * may not get another one soon.
   */
  witnessLost(): void {
    // What that session saw says nothing of what the next one sees.
    this.#watch.witnessed({ lost: [], nowMs: 0 }, [])
    if (!this.#trust.lost() || this.#bootId === null || this.#isStopped) return
    const checkingIn = checkInOver(this.#transactor, this.#orders(), 'unknown')
    unawaited(
      checkingIn.then((checkIn) => {
        this.checkedIn(checkIn)
      }),
      // The thread tells what it could not do.
      () => {},
    )
  }

  /**
   * Resolves when a recent check-in shows that no peer has recovered this node, so that it may claim triggers. Resolves
   * at once while check-ins succeed.
   *
   * @throws JobPersistenceError when the node could not check in
   */
  async confirm(): Promise<void> {
    if (this.#mayClaim()) return
    this.#driver.hurry()
    await this.#outcome()
    if (this.#mayClaim()) return
    throw new JobPersistenceError(
      `Node '${this.#context.instanceId}' could not check in for so long that others may have taken it for failed; ` +
        'it claims nothing until it has checked in.',
    )
  }

  /** As that of `JobStoreCluster`. */
  confirmFirings(): Promise<void> | undefined {
    return this.#mayClaim() ? undefined : this.#whenCertain()
  }

  async #whenCertain(): Promise<void> {
    this.#driver.hurry()
    // What a check-in fails of is told by itself; the next one follows.
    while (!this.#mayClaim()) await this.#outcome()
    if (!this.#isStopped) return
    throw new SchedulerError(
      'ERR_SCHEDULER_SHUTDOWN',
      `Node '${this.#context.instanceId}' left its cluster before it knew whether others had taken over its work.`,
    )
  }

  /** Resolves with the next result of a check-in. */
  #outcome(): Promise<void> {
    return new Promise((resolve) => {
      this.#outcomes.push(resolve)
    })
  }

  /** Whether `confirm` would resolve at once. */
  get isConfirmed(): boolean {
    return this.#mayClaim()
  }

  /** A node that has stopped may still read the nodes. */
  #mayClaim(): boolean {
    if (this.#isStopped) return true
    return (
      this.#bootId !== null && this.#trust.holdsAt(this.#context.clock.elapsedMs(), this.#driver.provenMs())
    )
  }

  /** An answer from before the event loop was blocked says too little: the one to the hurried check-in follows. */
  #settleIfTrusted(): void {
    if (this.#mayClaim()) this.#settle()
  }

  /** Wakes the callers that wait for the result of a check-in. */
  #settle(): void {
    for (const resolve of this.#outcomes.splice(0)) resolve()
  }

  /** All nodes; failed ones until they are recovered. */
  async nodes(): Promise<readonly ClusterNodeView[]> {
    const { rows, nowMs } = await this.#own.look()
    const { instanceId: own, nodeReport } = this.#context
    return rows
      .filter(({ isOrphan }) => !isOrphan)
      .map((row) => {
        const isSelf = row.instanceId === own && row.bootId === this.#bootId
        return {
          instanceId: row.instanceId,
          isSelf,
          state: this.#watch.state(row, nowMs),
          lastCheckInTimeMs: row.lastCheckInTimeMs,
          checkInIntervalMs: row.checkInIntervalMs,
          info: isSelf ? row.info && { ...row.info, ...nodeReport() } : row.info,
        }
      })
  }

  /** Checks in soon, with what the node reports now. */
  announce(): void {
    if (this.#bootId === null || this.#isStopped) return
    this.#driver.order(this.#orders())
    this.#driver.hurry()
  }

  /** @throws SchedulerError ERR_NOT_FOUND, ERR_NODE_ALIVE */
  async remove(instanceId: string): Promise<void> {
    const isAlive = (row: NodeRow, nowMs: EpochMs): boolean => this.#watch.state(row, nowMs) === 'alive'
    await removeNode({ transactor: this.#transactor, look: () => this.#own.look(), isAlive }, instanceId)
  }

  /** Leaves the cluster; peers recover what this node leaves in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#gate.wake()
    // What is under way may wait for locks, and peers take a node that does not check in for failed.
    await Promise.allSettled([this.#entering, this.#duties.stop()])
    await this.#driver.stop()
    this.#settle()
    const bootId = this.#bootId
    this.#bootId = null
    if (bootId === null || this.#isCutOff) return
    const leave = this.#transactor.session.nodes.leave(this.#own.row(bootId))
    try {
      await this.#transactor.run(() => run(leave), { lock: 'none', tells: 'none' })
      await this.#transactor.run(offerAllItemsOfGone, { lock: 'rows', tells: 'peers' })
    } catch (error) {
      if (this.#hasBeenCutOff()) return
      const message = 'The node could not leave its cluster; its peers will take it for failed.'
      this.#context.signaler.storeError(message, error)
    }
  }

  /** Gives up operations under way: then `stop`, also one that has begun, ends soon, and peers delete the row. */
  cutOff(): void {
    this.#isStopped = true
    this.#isCutOff = true
    this.#gate.wake()
    this.#duties.cutOff()
    this.#driver.cutOff()
    this.#settle()
  }

  #hasBeenCutOff(): boolean {
    return this.#isCutOff
  }
}
