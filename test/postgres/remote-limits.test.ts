import { remoteLimitCases } from '../support/remote-limit-cases.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()
const tuned = { checkInIntervalMs: 300, failedAfterMs: 1000 }

remoteLimitCases({
  ...stores,
  async prepare() {
    const newStore = await stores.prepare()
    return (options) => newStore({ ...tuned, ...options })
  },
})
