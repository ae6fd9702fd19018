import type { EpochMs } from '../../../time/clock.ts'
import { isSameCheckIn, type NodeRow } from '../tables/nodes/node-row.ts'
import type { Roll } from '../tables/nodes/scheduler-state-table.ts'
import type { WitnessLook } from './witness.ts'

interface Lost {
  /** As it was read since the witness was seen gone; null until then. */
  readonly row: NodeRow | null
  /** For how long the row was silent since then, as far as it counts. */
  readonly silentMs: number
  readonly lookedMs: EpochMs
}

/**
 * Decides by looks at witnesses whether nodes have failed: those whose witness is gone and whose row stands still for
 * the grace. The time between two looks counts at most as half of the grace: so when the observer or the database
 * stands still meanwhile, a node that lives still gets time to check in.
 */
export class WitnessWatch {
  #lost: ReadonlyMap<number, Lost> = new Map()

  /** Adds a look at witnesses. */
  look({ lost, nowMs }: Pick<WitnessLook, 'lost' | 'nowMs'>): void {
    const before = this.#lost
    this.#lost = new Map(
      lost.map((key) => [
        key,
        countOn(before.get(key) ?? { row: null, silentMs: 0, lookedMs: nowMs }, nowMs),
      ]),
    )
  }

  /** Adds a look at rows. Only the silence of a row that was read after the loss counts. */
  observe({ rows, nowMs }: Roll): void {
    const next = new Map(this.#lost)
    for (const row of rows) {
      const key = row.info?.witness?.key
      const lost = key === undefined ? undefined : next.get(key)
      if (key === undefined || lost === undefined) continue
      if (lost.row === null || !isSameCheckIn(lost.row, row)) {
        next.set(key, { row, silentMs: 0, lookedMs: nowMs })
      }
    }
    this.#lost = next
  }

  /** Whether a node has failed, by the grace that it gave itself. */
  hasFailed(row: NodeRow): boolean {
    const witness = row.info?.witness
    if (witness === null || witness === undefined) return false
    const lost = this.#lost.get(witness.key)
    if (lost === undefined || lost.row === null || !isSameCheckIn(lost.row, row)) return false
    return lost.silentMs >= witness.graceMs
  }
}

function countOn({ row, silentMs, lookedMs }: Lost, nowMs: EpochMs): Lost {
  const longestMs = (row?.info?.witness?.graceMs ?? 0) / 2
  const passedMs = Math.max(0, Math.min(nowMs - lookedMs, longestMs))
  return { row, silentMs: silentMs + passedMs, lookedMs: nowMs }
}
