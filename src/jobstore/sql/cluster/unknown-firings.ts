import type { LedgerMark } from '../session/firing-ledger.ts'
import type { SqlTransactor } from '../session/sql-transactor.ts'
import { recoverInstance } from './recovery.ts'

/**
 * Claims and executions of this node that the scheduler does not know because an answer of the database was lost: no
 * node runs them, and no peer recovers them while this node lives. They are settled when two looks in a row have seen
 * them and every search that had begun before the first look was answered before the second, so that no answer with
 * them can be under way.
 */
export class UnknownFirings {
  readonly #transactor: SqlTransactor
  /** Found by the last look. */
  #unknown: { readonly ids: ReadonlySet<string>; readonly mark: LedgerMark } = { ids: new Set(), mark: 0 }

  constructor(transactor: SqlTransactor) {
    this.#transactor = transactor
  }

  /** One look; settles what the one before has seen too. */
  async settle(): Promise<void> {
    const { ledger, context } = this.#transactor.session
    const ids = await this.#transactor.read(({ firedTriggers }) => firedTriggers.ownIds())
    const before = this.#unknown
    const unknown = ids.filter((id) => !ledger.has(id))
    this.#unknown = { ids: new Set(unknown), mark: ledger.mark() }
    if (!ledger.isCompleteUntil(before.mark)) return
    const lost = new Set(unknown.filter((id) => before.ids.has(id)))
    if (lost.size === 0) return
    await this.#transactor.run((tx) => recoverInstance(tx, context.instanceId, (id) => lost.has(id)), {
      lock: 'cluster',
    })
  }
}
