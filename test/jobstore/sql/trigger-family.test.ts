import { describe } from 'vitest'
import { sqliteStores } from '../../support/sql-stores.ts'
import { triggerFamilyCases } from '../../support/trigger-family-cases.ts'

describe('a trigger of another family in SQLite', () => {
  triggerFamilyCases(sqliteStores)
})
