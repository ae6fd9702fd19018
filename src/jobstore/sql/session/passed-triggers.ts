import type { EpochMs } from '../../../time/clock.ts'
import type { UnreadValue } from '../tables/triggers/unread-schedules.ts'

/** Why triggers were passed over: a search that begins after them must pass over the same ones. */
export interface LeftFor {
  readonly unknownJobTypes: readonly string[]
  readonly fullGroups: readonly string[]
  /** Whether jobs that other nodes are to run were passed over. */
  readonly node: string | null
  /** What Java wrote and this node never reads: what was passed over for it need not be passed over again. */
  readonly unread: readonly UnreadValue[]
}

interface Passed {
  readonly untilMs: EpochMs
  /** When a search last began at the first trigger. */
  readonly sinceMs: EpochMs
  readonly leftFor: LeftFor
}

/**
 * How long searches may begin after the triggers that an earlier one passed over. A trigger that another node gave an
 * earlier time without a signal is hidden for at most this long.
 */
const validForMs = 5000

/**
 * The first triggers in order of fire time that searches of this node pass over: of unknown job types, or of full
 * groups, or which Java wrote so that this node cannot read them. There may be a hundred thousand, so a search begins
 * after them, as long as it would pass over them as well. When an earlier trigger becomes available, searches begin
 * earlier again.
 */
export class PassedTriggers {
  #passed: Passed | null = null
  /** Changes when a trigger that may have been passed over becomes available. */
  #version = 0

  get version(): number {
    return this.#version
  }

  /** The instant after which a search with these exclusions may begin; null: at the first trigger. */
  endFor(leftFor: LeftFor, nowMs: EpochMs): EpochMs | null {
    const passed = this.#validAt(nowMs)
    return passed !== null && isWithin(passed.leftFor, leftFor) ? passed.untilMs : null
  }

  /**
   * A search has passed over all triggers until an instant for these reasons. Ignored when a trigger has become
   * available since the search began, at `version`.
   */
  note(untilMs: EpochMs, leftFor: LeftFor, nowMs: EpochMs, version: number): void {
    if (version !== this.#version) return
    const { unknownJobTypes, fullGroups, node, unread } = leftFor
    if (node === null && [unknownJobTypes, fullGroups, unread].every(({ length }) => length === 0)) return
    // A trigger that is due at this very moment may still be stored.
    const endMs = Math.min(untilMs, nowMs - 1)
    const known = this.#validAt(nowMs)
    if (known !== null && known.untilMs >= endMs) return
    const sinceMs = known !== null && isWithin(known.leftFor, leftFor) ? known.sinceMs : nowMs
    this.#passed = { untilMs: endMs, sinceMs, leftFor }
  }

  /** A trigger may fire at this instant that could not before; null: at any. Later triggers were not passed over. */
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
