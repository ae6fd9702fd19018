import type { SqlTransactor } from '../session/sql-transactor.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'
import { hasItemsOfGone, settleAllLostItems } from './lost-items.ts'

/**
 * Ends what only nodes that are gone might run of broadcasts. A node that leaves does not do so itself: its listeners
 * could not go on from there. A firing may be split while a node leaves, and be committed after it has left, so its
 * peers look more than once. Who has split it or has ended an item of it looks also when no check-in has ever seen
 * the node.
 */
export class ItemsOfGone {
  readonly #transactor: SqlTransactor
  readonly #forMs: number
  #goneMs = Number.NEGATIVE_INFINITY

  /** `forMs`: for how long to look, from when a node was found gone. */
  constructor(transactor: SqlTransactor, forMs: number) {
    this.#transactor = transactor
    this.#forMs = forMs
  }

  /** Takes in the rows of two looks at the nodes. */
  observe(before: readonly NodeRow[], now: readonly NodeRow[]): void {
    const { itemOwners } = this.#transactor.session
    const there = new Set(idsOf(now))
    if ([...idsOf(before), ...itemOwners].some((id) => !there.has(id))) this.#goneMs = this.#nowMs()
    itemOwners.clear()
  }

  /** To be called at each check-in. */
  async settle(isWanted: () => boolean): Promise<void> {
    if (this.#nowMs() - this.#goneMs > this.#forMs) return
    // There is nearly always nothing to settle, and recoveries wait for each other.
    if (await this.#transactor.read(hasItemsOfGone)) await settleAllLostItems(this.#transactor, isWanted)
  }

  #nowMs(): number {
    return this.#transactor.session.context.clock.elapsedMs()
  }
}

function idsOf(rows: readonly NodeRow[]): string[] {
  return rows.flatMap(({ instanceId, isOrphan }) => (isOrphan ? [] : instanceId))
}
