import type { JobKey } from '../../core/key.ts'
import type { JobStoreShards, ShardOverview } from '../job-store-shards.ts'
import { OpenFirings, shownFiring } from '../split-firing.ts'
import { lockJobs } from './programs/steps/new-triggers.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'

/** The sharded jobs of a store in a database. */
export class SqlShards implements JobStoreShards {
  readonly #transactor: () => SqlTransactor

  /** `transactor` throws while the store is not open. */
  constructor(transactor: () => SqlTransactor) {
    this.#transactor = transactor
  }

  async overview(jobKey: JobKey): Promise<ShardOverview | null> {
    return this.#transactor().read(function* ({ jobs, splitFirings }) {
      if ((yield* jobs.existing([jobKey])).length === 0) return null
      const { found } = yield* splitFirings.load([jobKey])
      const disabled = (yield* splitFirings.disabledItems([jobKey])).get(jobKey) ?? []
      const open = new OpenFirings(found.get(jobKey) ?? [])
      return {
        jobKey,
        firings: open.all.map(shownFiring),
        disabledItems: [...disabled].sort((a, b) => a - b),
      }
    })
  }

  async setItem(jobKey: JobKey, item: number, { enabled }: { readonly enabled: boolean }): Promise<boolean> {
    return this.#transactor().run(
      function* (tx) {
        const { splitFirings } = tx.session
        if (!(yield* lockJobs(tx, [jobKey])).has(jobKey)) return false
        const before = (yield* splitFirings.disabledItems([jobKey])).get(jobKey) ?? []
        const others = before.filter((each) => each !== item)
        yield* splitFirings.setDisabledItems(jobKey, enabled ? others : [...others, item])
        return true
      },
      { lock: 'rows', tells: 'none' },
    )
  }
}
