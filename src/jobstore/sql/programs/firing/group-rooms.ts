import type { SqlProgram } from '../../kernel/statement.ts'
import type { JobGroupLimits } from '../../tables/firings/job-group-limits.ts'
import type { DueTrigger } from '../../tables/triggers/trigger-table.ts'

/**
 * How many more jobs of limited groups one search may claim. What is full at the first look is left out of the search,
 * so that it hides nothing else and is not locked for nothing; what is claimed is counted under a lock.
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

  get fullGroups(): readonly string[] {
    return [...this.#rooms].flatMap(([group, room]) => (room <= 0 ? [group] : []))
  }

  /** Those that may be claimed; they count as claimed from here on. */
  *admit<Candidate extends { readonly due: DueTrigger }>(
    candidates: readonly Candidate[],
  ): SqlProgram<readonly Candidate[]> {
    if (!candidates.some(({ due }) => this.#rooms.has(due.jobKey.group))) return candidates
    if (!this.#isExact) {
      yield* this.#limits.lock()
      // A statement of its own, so that it sees what was claimed while this transaction waited for the lock.
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
