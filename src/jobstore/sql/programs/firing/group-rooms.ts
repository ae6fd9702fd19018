import type { SqlProgram } from '../../kernel/statement.ts'
import type { JobGroupLimits } from '../../tables/firings/job-group-limits.ts'
import type { DueTrigger } from '../../tables/triggers/trigger-table.ts'

/**
 * How many more jobs of limited groups one search may claim. Groups that are full at the first look are left out of the
 * search, so that their triggers hide no others and are not locked for nothing; claims are counted under a lock.
 */
export class GroupRooms {
  readonly #limits: JobGroupLimits
  #rooms: Map<string, number>
  #isExact = false

  private constructor(limits: JobGroupLimits, rooms: Map<string, number>) {
    this.#limits = limits
    this.#rooms = rooms
  }

  static *look(limits: JobGroupLimits): SqlProgram<GroupRooms> {
    return new GroupRooms(limits, yield* limits.rooms())
  }

  /** All groups that are limited. */
  get groups(): readonly string[] {
    return [...this.#rooms.keys()]
  }

  get fullGroups(): readonly string[] {
    return [...this.#rooms].flatMap(([group, room]) => (room <= 0 ? [group] : []))
  }

  /** The triggers that may be claimed; they count as claimed from here on. */
  *admit<Candidate extends { readonly due: DueTrigger }>(
    candidates: readonly Candidate[],
  ): SqlProgram<readonly Candidate[]> {
    if (!candidates.some(({ due }) => this.#rooms.has(due.jobKey.group))) return candidates
    if (!this.#isExact) {
      yield* this.#limits.lock()
      // A separate statement, so that it sees claims made while this transaction waited for the lock.
      this.#rooms = yield* this.#limits.rooms()
      this.#isExact = true
    }
    return candidates.filter(({ due }) => {
      const { group } = due.jobKey
      const room = this.#rooms.get(group)
      if (room === undefined) return true
      if (room > 0) this.#rooms.set(group, room - 1)
      return room > 0
    })
  }
}
