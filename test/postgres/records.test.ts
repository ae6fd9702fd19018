import { recordCases } from '../support/record-cases.ts'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

recordCases({ engine: stores.engine, prepare: () => stores.prepare() })
