import { historyCases } from '../support/history-cases.ts'
import { postgresStores } from '../support/sql-stores.ts'

historyCases(postgresStores())
