import { remoteLimitCases } from '../support/remote-limit-cases.ts'
import { sqliteStores } from '../support/sql-stores.ts'

remoteLimitCases(sqliteStores)
