import type { EpochMs } from '../../../time/clock.ts'
import { failedAfterMs, isSameCheckIn, type NodeRow } from '../tables/nodes/node-row.ts'
import type { Roll } from '../tables/nodes/scheduler-state-table.ts'
import type { WitnessLook } from './witness.ts'
import { WitnessWatch } from './witness-watch.ts'

export type NodeState = 'alive' | 'overdue' | 'failed'

interface Watched {
  readonly row: NodeRow
  /** The observer has seen it check in. */
  readonly hasMoved: boolean
  readonly silentMs: number
}

/**
 * Decides by the observer's looks whether nodes are alive.
 *
 * A node has failed when it was silent for its `failedAfterMs` while this observer watched. The time between two looks
 * counts at most as much as the observer's own interval, and at most as half of `failedAfterMs`. So after a time in
 * which the observer could not look (the database was away, the process was suspended), every node gets time to check
 * in. For the same reason the time before the first look counts at most as much.
 *
 * A node whose witness is gone has failed after a shorter silence, as {@link WitnessWatch} has it.
 */
export class NodeWatch {
  readonly #intervalMs: number
  readonly #failedAfterMs: number
  readonly #witnesses = new WitnessWatch()
  #watched: ReadonlyMap<string, Watched> = new Map()
  #lookedMs: EpochMs | null = null

  constructor(own: { readonly checkInIntervalMs: number; readonly failedAfterMs: number }) {
    this.#intervalMs = own.checkInIntervalMs
    this.#failedAfterMs = own.failedAfterMs
  }

  /** Adds a look. */
  observe({ rows, nowMs }: Roll): void {
    const watched = new Map<string, Watched>()
    for (const row of rows) {
      const before = this.#watched.get(row.instanceId)
      const hasMoved = before !== undefined && (before.hasMoved || !isSameCheckIn(before.row, row))
      watched.set(row.instanceId, { row, hasMoved, silentMs: this.#countedSilenceMs(row, nowMs) })
    }
    this.#watched = watched
    this.#lookedMs = nowMs
    this.#witnesses.observe({ rows, nowMs })
  }

  /** Adds a look at witnesses; answers whether one of these nodes has failed by it that had not before. */
  witnessed(look: Pick<WitnessLook, 'lost' | 'nowMs'>, rows: readonly NodeRow[]): boolean {
    const before = rows.filter((row) => !this.#witnesses.hasFailed(row))
    this.#witnesses.look(look)
    return before.some((row) => this.#witnesses.hasFailed(row))
  }

  /**
   * For how long a node has been silent, as far as it counts; for an observer without an earlier look, since its
   * check-in.
   */
  silentMs(row: NodeRow, nowMs: EpochMs): number {
    return this.#lookedMs === null ? nowMs - row.lastCheckInTimeMs : this.#countedSilenceMs(row, nowMs)
  }

  #countedSilenceMs(row: NodeRow, nowMs: EpochMs): number {
    const before = this.#watched.get(row.instanceId)
    if (before !== undefined && isSameCheckIn(before.row, row)) {
      return before.silentMs + this.#countedMs(row, nowMs - (this.#lookedMs ?? nowMs))
    }
    // The clock of a Java node may differ by any amount, and an orphan has no check-in time.
    return row.bootId === null ? 0 : this.#countedMs(row, nowMs - row.lastCheckInTimeMs)
  }

  state(row: NodeRow, nowMs: EpochMs): NodeState {
    if (this.#witnesses.hasFailed(row)) return 'failed'
    const silentMs = this.silentMs(row, nowMs)
    if (silentMs >= failedAfterMs(row, this.#failedAfterMs)) return 'failed'
    return silentMs >= 2 * row.checkInIntervalMs ? 'overdue' : 'alive'
  }

  /** Whether the node checked in, or was started, since the first look. */
  hasMoved(instanceId: string): boolean {
    return this.#watched.get(instanceId)?.hasMoved === true
  }

  #countedMs(row: NodeRow, passedMs: number): number {
    const longestMs = Math.min(this.#intervalMs, failedAfterMs(row, this.#failedAfterMs) / 2)
    return Math.max(0, Math.min(passedMs, longestMs))
  }
}
