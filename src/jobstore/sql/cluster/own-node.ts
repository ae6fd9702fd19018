import { hostname } from 'node:os'
import { packageVersion } from '../../../core/version.ts'
import { AdjustableClock } from '../../../time/adjustable-clock.ts'
import type { EpochMs } from '../../../time/clock.ts'
import type { JobStoreContext } from '../../job-store.ts'
import { all } from '../kernel/statement.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import type { NodeInfo, NodeLocking, NodeRow } from '../tables/nodes/node-row.ts'
import {
  type OwnRow,
  type Roll,
  readRoll,
  type SchedulerStateTable,
} from '../tables/nodes/scheduler-state-table.ts'
import type { CheckIn, CheckInOrders } from './check-in.ts'
import { limitsToTell } from './other-limits.ts'
import { hasLookers, type WitnessOrders, watchedWitnesses, witnessGraceMs, witnessKey } from './witness.ts'

export interface OwnNodeOptions {
  readonly checkInIntervalMs: number
  readonly failedAfterMs: number
  readonly locking: NodeLocking | null
}

/** The row that this node writes, and its looks at the rows of all, which measure the clock of the database as well. */
export class OwnNode {
  readonly #transactor: SqlTransactor
  readonly #context: JobStoreContext
  readonly #table: SchedulerStateTable
  readonly #options: OwnNodeOptions
  #witnessKey: number | null = null
  #clockOffsetMs: number | null = null

  constructor(transactor: SqlTransactor, options: OwnNodeOptions) {
    this.#transactor = transactor
    this.#context = transactor.session.context
    this.#table = transactor.session.nodes
    this.#options = options
  }

  /** The node has registered; its witness stays the one of its first start. */
  registered(bootId: string): void {
    this.#witnessKey ??= witnessKey(bootId)
  }

  row(bootId: string): OwnRow {
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

  /** `rows`: answers those of the last look. */
  orders(bootId: string, rows: () => readonly NodeRow[]): CheckInOrders {
    const { clock } = this.#context
    return {
      bootId,
      intervalMs: this.#options.checkInIntervalMs,
      statements: () => ({
        checkIn: this.#table.checkIn(this.row(bootId), clock.now()),
        look: this.#table.load(clock.now()),
      }),
      witness: () => this.#witnessOrders(bootId, rows()),
    }
  }

  #witnessOrders(bootId: string, rows: readonly NodeRow[]): WitnessOrders | null {
    const { instanceId, clock } = this.#context
    const key = this.#witnessKey
    if (key === null || !hasLookers(instanceId, rows)) return null
    const own = this.row(bootId)
    const witness = { key, graceMs: witnessGraceMs(this.#options.failedAfterMs) }
    const named = { ...own, info: { ...own.info, witness } }
    return {
      ...witness,
      checkIn: this.#table.checkIn(named, clock.now()),
      watched: watchedWitnesses(instanceId, rows),
    }
  }

  /** Reads the rows of all nodes. */
  async look(): Promise<Roll> {
    const { clock } = this.#context
    const startedMs = clock.elapsedMs()
    const rows = await this.#transactor.read(() => all(this.#table.load(clock.now())))
    const lookTookMs = clock.elapsedMs() - startedMs
    return this.rollOf({ rows, lookedMs: startedMs + lookTookMs / 2, lookTookMs })
  }

  rollOf({ rows, lookedMs, lookTookMs }: Pick<CheckIn, 'rows' | 'lookedMs' | 'lookTookMs'>): Roll {
    const roll = readRoll(rows)
    this.#measureClock(roll.nowMs, lookedMs, lookTookMs)
    return roll
  }

  #measureClock(databaseMs: EpochMs, lookedMs: number, lookTookMs: number): void {
    const { clock, signaler } = this.#context
    if (!this.#table.isOnDatabaseTime) return
    const aheadMs = databaseMs + (clock.elapsedMs() - lookedMs) - clock.now()
    signaler.clockOffsetMeasured(aheadMs, lookTookMs / 2)
    // Measured against the machine's clock, without the scheduler's adjustment.
    const corrected = clock instanceof AdjustableClock ? clock.offsetMs : aheadMs
    this.#clockOffsetMs = Math.round(corrected)
  }
}
