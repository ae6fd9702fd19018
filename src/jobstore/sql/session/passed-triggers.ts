import type { EpochMs } from '../../../time/clock.ts'

/** For why triggers were left: what a search must leave too if it is to begin behind them. */
export interface LeftFor {
  readonly unknownJobTypes: readonly string[]
  readonly fullGroups: readonly string[]
  /** Whether jobs were left that other nodes are to run. */
  readonly node: string | null
}

interface Passed {
  readonly untilMs: EpochMs
  /** When all from the first trigger on was last looked at. */
  readonly sinceMs: EpochMs
  readonly leftFor: LeftFor
}

/**
 * How long a search may begin behind what an earlier one passed over. A trigger that another node gave an earlier time
 * without a word is hidden for so long at most.
 */
const validForMs = 5000

/**
 * The triggers at the front that searches of this node pass over: of job types that are not known here, of groups that
 * are full. There may be a hundred thousand, so a search begins behind them, as long as it would leave them as well.
 * Whatever becomes available before that instant takes the instant back.
 */
export class PassedTriggers {
  #passed: Passed | null = null
  /** Changes when something that may have been passed over becomes available. */
  #version = 0

  get version(): number {
    return this.#version
  }

  /** The instant after which a search may begin that leaves out so much; null: at the first trigger. */
  endFor(leftFor: LeftFor, nowMs: EpochMs): EpochMs | null {
    const passed = this.#validAt(nowMs)
    return passed !== null && isWithin(passed.leftFor, leftFor) ? passed.untilMs : null
  }

  /**
   * A search has found that everything until an instant is to be left for these reasons. In vain when something became
   * available since it began, at `version`.
   */
  note(untilMs: EpochMs, leftFor: LeftFor, nowMs: EpochMs, version: number): void {
    if (version !== this.#version) return
    if (leftFor.unknownJobTypes.length === 0 && leftFor.fullGroups.length === 0 && leftFor.node === null) {
      return
    }
    // What is due at this very moment may still come.
    const endMs = Math.min(untilMs, nowMs - 1)
    const known = this.#validAt(nowMs)
    if (known !== null && known.untilMs >= endMs) return
    const sinceMs = known !== null && isWithin(known.leftFor, leftFor) ? known.sinceMs : nowMs
    this.#passed = { untilMs: endMs, sinceMs, leftFor }
  }

  /** Something may fire at this instant that could not before; null: at any. What is due later was not passed over. */
  takeBack(fireTimeMs: EpochMs | null, nowMs: EpochMs): void {
    const passed = this.#passed
    if (fireTimeMs !== null && fireTimeMs > Math.max(nowMs, passed?.untilMs ?? 0)) return
    this.#version++
    if (fireTimeMs === null) this.#passed = null
    else if (passed !== null) {
      this.#passed = { ...passed, untilMs: Math.min(passed.untilMs, fireTimeMs - 1) }
    }
  }

  #validAt(nowMs: EpochMs): Passed | null {
    const passed = this.#passed
    if (passed === null || nowMs < passed.sinceMs || nowMs >= passed.sinceMs + validForMs) return null
    return passed
  }
}

function isWithin(inner: LeftFor, outer: LeftFor): boolean {
  const types = new Set(outer.unknownJobTypes)
  const groups = new Set(outer.fullGroups)
  return (
    inner.unknownJobTypes.every((type) => types.has(type)) &&
    inner.fullGroups.every((group) => groups.has(group)) &&
    (inner.node === null || inner.node === outer.node)
  )
}
