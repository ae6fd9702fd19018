import { hostname } from 'node:os'
import { JobPersistenceError } from '../../../core/errors.ts'
import { unawaited } from '../../../core/promises.ts'
import { packageVersion } from '../../../core/version.ts'
import { AdjustableClock } from '../../../time/adjustable-clock.ts'
import type { EpochMs } from '../../../time/clock.ts'
import { Gate } from '../../../time/gate.ts'
import type { FailureSeries } from '../../failure-series.ts'
import type { JobStoreContext } from '../../job-store.ts'
import { all, run } from '../kernel/statement.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import { lockingOf, type NodeInfo, type NodeLocking, type NodeRow } from '../tables/nodes/node-row.ts'
import {
  type OwnRow,
  type Roll,
  readRoll,
  type SchedulerStateTable,
} from '../tables/nodes/scheduler-state-table.ts'
import {
  type CheckIn,
  type CheckInDriver,
  type CheckInObserver,
  type CheckInOrders,
  checkInOver,
} from './check-in.ts'
import type { ResolvedClusterOptions } from './cluster-options.ts'
import { ItemsOfGone } from './items-of-gone.ts'
import { offerAllItemsOfGone, settleAllLostItems } from './lost-items.ts'
import { NodeNews } from './node-news.ts'
import { NodeTrust } from './node-trust.ts'
import { type NodeState, NodeWatch } from './node-watch.ts'
import { limitsToTell, warnOfOtherLimits } from './other-limits.ts'
import { recoverNode } from './recovery.ts'
import { admission, mixedLocking, register } from './registration.ts'
import { removeNode } from './removal.ts'
import { freeStuckTriggers } from './stuck-triggers.ts'
import { UnknownFirings } from './unknown-firings.ts'
import {
  hasLookers,
  type WitnessLook,
  type WitnessOrders,
  watchedWitnesses,
  witnessGraceMs,
  witnessKey,
} from './witness.ts'

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
 * This scheduler as a node of its cluster: checks in, detects nodes that have failed, and recovers their work. A node
 * that was recovered by a peer learns it from its next check-in, and registers anew.
 */
export class ClusterNode implements CheckInObserver {
  readonly #transactor: SqlTransactor
  readonly #context: JobStoreContext
  readonly #options: ClusterNodeOptions
  readonly #driver: CheckInDriver
  readonly #table: SchedulerStateTable
  readonly #watch: NodeWatch
  readonly #gate: Gate
  readonly #news: NodeNews
  readonly #unknown: UnknownFirings
  readonly #itemsOfGone: ItemsOfGone
  #bootId: string | null = null
  #entering: Promise<void> | null = null
  #tending: Promise<void> | null = null
  readonly #outcomes: (() => void)[] = []
  readonly #trust: NodeTrust
  /** The rows of the last look. */
  #rows: readonly NodeRow[] = []
  #witnessKey: number | null = null
  #sweptMs = Number.NEGATIVE_INFINITY
  #clockOffsetMs: number | null = null
  #failures = 0
  #isStopped = false
  #isCutOff = false

  constructor(transactor: SqlTransactor, options: ClusterNodeOptions, driver: CheckInDriver) {
    this.#transactor = transactor
    this.#context = transactor.session.context
    this.#options = options
    this.#driver = driver
    this.#table = transactor.session.nodes
    this.#watch = new NodeWatch(options)
    this.#trust = new NodeTrust(options)
    this.#gate = new Gate(this.#context.clock)
    this.#news = new NodeNews(this.#context)
    this.#unknown = new UnknownFirings(transactor)
    this.#itemsOfGone = new ItemsOfGone(transactor, options.failedAfterMs)
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
    await this.#sweep()
  }

  /** Leaves the cluster; peers recover what this node leaves in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#gate.wake()
    // What is under way may wait for locks, and peers take a node that does not check in for failed.
    await Promise.allSettled([this.#entering, this.#tending])
    await this.#driver.stop()
    this.#settle()
    const bootId = this.#bootId
    this.#bootId = null
    if (bootId === null || this.#isCutOff) return
    const leave = this.#table.leave(this.#own(bootId))
    try {
      await this.#transactor.run(() => run(leave), { lock: 'none', tells: 'none' })
      await this.#transactor.run(offerAllItemsOfGone, { lock: 'rows', tells: 'peers' })
    } catch (error) {
      this.#report('The node could not leave its cluster; its peers will take it for failed.', error)
    }
  }

  /** Gives up operations under way: then `stop`, also one that has begun, ends soon, and peers delete the row. */
  cutOff(): void {
    this.#isStopped = true
    this.#isCutOff = true
    this.#gate.wake()
    this.#driver.cutOff()
    this.#settle()
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
    await new Promise<void>((resolve) => {
      this.#outcomes.push(resolve)
    })
    if (this.#mayClaim()) return
    throw new JobPersistenceError(
      `Node '${this.#context.instanceId}' could not check in for so long that others may have taken it for failed; ` +
        'it claims nothing until it has checked in.',
    )
  }

  /** Whether `confirm` would resolve at once. */
  get isConfirmed(): boolean {
    return this.#mayClaim()
  }

  /** All nodes; failed ones until they are recovered. */
  async nodes(): Promise<readonly ClusterNodeView[]> {
    const { rows, nowMs } = await this.#look()
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
    await removeNode({ transactor: this.#transactor, look: () => this.#look(), isAlive }, instanceId)
  }

  checkedIn(checkIn: CheckIn): void {
    if (checkIn.bootId !== this.#bootId) return
    if (this.#failures > 0) this.#context.signaler.checkInRestored(this.#failures)
    this.#failures = 0
    if (!checkIn.isOurs) {
      this.#bootId = null
      this.#context.signaler.recoveredByPeer()
      this.#entering = this.#enterAnew()
      return
    }
    this.#trust.checkedIn(checkIn.sentMs, checkIn.witness)
    const roll = readRoll(checkIn.rows)
    this.#measureClock(roll.nowMs, checkIn)
    this.#observe(roll)
    this.#tending ??= this.#tend(roll).finally(() => {
      this.#tending = null
    })
    this.#settleIfTrusted()
    // An answer that took so long that it says too little: callers would wait for the next regular check-in.
    if (this.#outcomes.length > 0) this.#driver.hurry()
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

  /** What was given up with the cut-off says nothing of its own: the shutdown reports what was left. */
  #report(message: string, error: unknown, series: FailureSeries | null = null): void {
    if (this.#isCutOff) return
    if (series === null) this.#context.signaler.storeError(message, error)
    else series.add(message, error)
  }

  /** A node that has stopped may still read the nodes. */
  #mayClaim(): boolean {
    if (this.#isStopped) return true
    return (
      this.#bootId !== null && this.#trust.holdsAt(this.#context.clock.elapsedMs(), this.#driver.provenMs())
    )
  }

  #observe(roll: Roll): void {
    this.#itemsOfGone.observe(this.#rows, roll.rows)
    this.#watch.observe(roll)
    this.#rows = roll.rows
  }

  /** An answer from before the event loop was blocked says too little: the one to the hurried check-in follows. */
  #settleIfTrusted(): void {
    if (this.#mayClaim()) this.#settle()
  }

  /** Wakes the callers that wait for the result of a check-in. */
  #settle(): void {
    for (const resolve of this.#outcomes.splice(0)) resolve()
  }

  async #enter({ isStart }: { readonly isStart: boolean }): Promise<void> {
    const { clock, ids } = this.#context
    const bootId = ids.uniqueName().slice(0, 80)
    const own = this.#own(bootId)
    while (!this.#isStopped) {
      const roll = await this.#look()
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
          this.#witnessKey ??= witnessKey(bootId)
          this.#trust.checkedIn(sentMs, 'unknown')
          this.#warnOfStrangers(roll)
          return
        }
      }
      await this.#gate.wait(this.#options.checkInIntervalMs)
    }
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

  async #tend({ rows, nowMs }: Roll): Promise<void> {
    const { instanceId } = this.#context
    this.#warnOfStrangers({ rows, nowMs })
    const alive = rows.filter((row) => this.#watch.state(row, nowMs) !== 'failed')
    const limits = limitsToTell(this.#transactor.session)
    warnOfOtherLimits(alive, { instanceId, limits }, { logger: this.#context.logger, news: this.#news })
    this.#news.keep(rows)
    for (const row of rows) {
      if (this.#isStopped) return
      if (row.instanceId === instanceId || this.#watch.state(row, nowMs) !== 'failed') continue
      await this.#recover(row)
    }
    if (!this.#isStopped) await this.#settleItemsOfGone()
    if (!this.#isStopped) await this.#settleUnknown()
    const isDue = this.#context.clock.elapsedMs() - this.#sweptMs >= this.#options.sweepIntervalMs
    if (isDue && !this.#isStopped) await this.#sweep()
  }

  async #recover(row: NodeRow): Promise<void> {
    const { signaler } = this.#context
    const { instanceId, isOrphan } = row
    const failures = this.#news.recovery(row)
    if (!isOrphan && this.#news.isNews(row, 'failed')) signaler.nodeFailed(instanceId)
    try {
      await this.#transactor.run((tx) => recoverNode(tx, row), { lock: 'cluster' })
      await settleAllLostItems(this.#transactor, () => !this.#isStopped)
      failures.end(`Node '${instanceId}' was recovered after all.`)
    } catch (error) {
      this.#report(
        `Node '${instanceId}' failed and could not be recovered; it is tried again.`,
        error,
        failures,
      )
    }
  }

  async #settleItemsOfGone(): Promise<void> {
    const { settling } = this.#news
    try {
      await this.#itemsOfGone.settle(() => !this.#isStopped)
      settling.end('The items of nodes that are gone are ended again.')
    } catch (error) {
      this.#report('The items of nodes that are gone could not be ended.', error, settling)
    }
  }

  async #settleUnknown(): Promise<void> {
    const what = 'The firings that the database has of this node'
    try {
      await this.#unknown.settle()
      this.#news.comparing.end(`${what} are compared again with those that it runs.`)
    } catch (error) {
      this.#report(`${what} could not be compared with those that it runs.`, error, this.#news.comparing)
    }
  }

  async #sweep(): Promise<void> {
    this.#sweptMs = this.#context.clock.elapsedMs()
    try {
      // It goes through all triggers: without the lock of the cluster, and by sequential scans where they are quicker.
      const isStuck = await this.#transactor.read(({ keyLists }) => keyLists.hasStuck())
      const free = () => this.#transactor.run(freeStuckTriggers, { lock: 'cluster' })
      while (isStuck && !this.#isStopped && (await free()));
      if (!this.#isStopped) await settleAllLostItems(this.#transactor, () => !this.#isStopped)
      this.#news.sweeping.end('Triggers without their claim or execution are looked for again.')
    } catch (error) {
      const message = 'Triggers without their claim or execution could not be looked for.'
      this.#report(message, error, this.#news.sweeping)
    }
  }

  /** Reports once each node whose way of locking does not exclude this node's. */
  #warnOfStrangers({ rows, nowMs }: Roll): void {
    const { signaler, instanceId } = this.#context
    const { locking } = this.#options
    if (locking === null) return
    for (const row of rows) {
      const other = lockingOf(row)
      if (row.instanceId === instanceId || other === null || other === locking) continue
      const isSeen = row.bootId === null ? this.#watch.hasMoved(row.instanceId) : true
      if (!isSeen || this.#watch.state(row, nowMs) === 'failed') continue
      if (!this.#news.isNews(row, 'locking')) continue
      const error =
        locking === 'skipLocked'
          ? mixedLocking(instanceId, row)
          : mixedLocking(row.instanceId, { ...row, ...this.#own(this.#bootId ?? '') })
      signaler.storeError('Nodes with different locking use the same tables.', error)
    }
  }

  #measureClock(
    databaseMs: EpochMs,
    { lookedMs, lookTookMs }: Pick<CheckIn, 'lookedMs' | 'lookTookMs'>,
  ): void {
    const { clock, signaler } = this.#context
    if (!this.#table.isOnDatabaseTime) return
    const aheadMs = databaseMs + (clock.elapsedMs() - lookedMs) - clock.now()
    signaler.clockOffsetMeasured(aheadMs, lookTookMs / 2)
    // Measured against the machine's clock, without the scheduler's adjustment.
    const corrected = clock instanceof AdjustableClock ? clock.offsetMs : aheadMs
    this.#clockOffsetMs = Math.round(corrected)
  }

  async #look(): Promise<Roll> {
    const { clock } = this.#context
    const startedMs = clock.elapsedMs()
    const rows = await this.#transactor.read(() => all(this.#table.load(clock.now())))
    const lookTookMs = clock.elapsedMs() - startedMs
    const roll = readRoll(rows)
    this.#measureClock(roll.nowMs, { lookedMs: startedMs + lookTookMs / 2, lookTookMs })
    return roll
  }

  #orders(): CheckInOrders {
    const bootId = this.#bootId ?? ''
    const { clock } = this.#context
    return {
      bootId,
      intervalMs: this.#options.checkInIntervalMs,
      statements: () => ({
        checkIn: this.#table.checkIn(this.#own(bootId), clock.now()),
        look: this.#table.load(clock.now()),
      }),
      witness: () => this.#witnessOrders(bootId),
    }
  }

  #witnessOrders(bootId: string): WitnessOrders | null {
    const { instanceId, clock } = this.#context
    const key = this.#witnessKey
    if (key === null || !hasLookers(instanceId, this.#rows)) return null
    const own = this.#own(bootId)
    const witness = { key, graceMs: witnessGraceMs(this.#options.failedAfterMs) }
    const named = { ...own, info: { ...own.info, witness } }
    return {
      ...witness,
      checkIn: this.#table.checkIn(named, clock.now()),
      watched: watchedWitnesses(instanceId, this.#rows),
    }
  }

  #own(bootId: string): OwnRow {
    const { instanceId, jobTypes, nodeReport } = this.#context
    const { checkInIntervalMs, failedAfterMs, locking } = this.#options
    const info: NodeInfo = {
      version: packageVersion,
      pid: process.pid,
      host: hostname(),
      jobTypes: jobTypes(),
      locking,
      clockOffsetMs: this.#clockOffsetMs,
      failedAfterMs,
      jobGroupLimits: limitsToTell(this.#transactor.session),
      witness: null,
      ...nodeReport(),
    }
    return { instanceId, bootId, checkInIntervalMs, info }
  }
}
