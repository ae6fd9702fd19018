import pg from 'pg'
import { onTestFinished } from 'vitest'
import { pruningCase } from '../support/pruning-case.ts'
import { recordCases } from '../support/record-cases.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

recordCases({ engine: stores.engine, prepare: () => stores.prepare() })

pruningCase(stores.engine, async () => {
  const newStore = await stores.prepare()
  const client = new pg.Client(stores.connection())
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('SET search_path = pruned')
  return {
    open: (options) => newStore({ schema: 'pruned', ...options }),
    async run(statement) {
      const { rows } = await client.query<Record<string, unknown>>(statement)
      return Object.values(rows[0] ?? {})[0]
    },
  }
})
