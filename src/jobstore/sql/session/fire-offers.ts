import type { EpochMs } from '../../../time/clock.ts'

/** The earliest instant at which a transaction lets a trigger fire, for the loops of all nodes. */
export class FireOffers {
  #triggersMs: EpochMs | null = null
  #roomsMs: EpochMs | null = null
  #rearmedMs: EpochMs | null = null
  readonly #roomyGroups = new Set<string>()

  /** A trigger may fire at this instant that could not before; null is ignored. */
  note(fireTimeMs: EpochMs | null): void {
    this.#triggersMs = earlier(this.#triggersMs, fireTimeMs)
  }

  /** The same for a trigger that waited only for room in its group. */
  noteRoom(fireTimeMs: EpochMs | null): void {
    this.#roomsMs = earlier(this.#roomsMs, fireTimeMs)
  }

  /** Claims or executions of limited groups have ended: once the end is committed, one looks who waits for room. */
  noteRoomIn(group: string): void {
    this.#roomyGroups.add(group)
  }

  /** The next instant of a trigger that fired: the node that fired it knows it, and other nodes need no signal. */
  noteRearmed(fireTimeMs: EpochMs | null): void {
    this.#rearmedMs = earlier(this.#rearmedMs, fireTimeMs)
  }

  /** Limited groups in which claims or executions have ended. */
  get roomyGroups(): ReadonlySet<string> {
    return this.#roomyGroups
  }

  /** For the loops that are signalled. */
  get earliestMs(): EpochMs | null {
    return earlier(this.#triggersMs, this.#roomsMs)
  }

  /**
   * For the searches of this node: includes triggers that fired, without those that only lacked room in their group.
   */
  get earliestTriggerMs(): EpochMs | null {
    return earlier(this.#triggersMs, this.#rearmedMs)
  }
}

function earlier(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
