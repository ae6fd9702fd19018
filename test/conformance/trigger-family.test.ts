import { ramJobStore } from 'quartz-ts'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { jobStoreConformance } from 'quartz-ts/testing'
import { describe, test } from 'vitest'
import { slowingTriggers } from '../support/slowing-trigger.ts'
import { sqliteCapabilities } from '../support/sqlite.ts'

describe('RAMJobStore conforms with triggers of another family', () => {
  const cases = jobStoreConformance({
    name: 'ram-slowing',
    create: () => ramJobStore(),
    triggers: slowingTriggers,
    capabilities: { persistent: false, clustered: false, history: true, records: true },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

describe('SqliteJobStore conforms with triggers of another family', () => {
  const cases = jobStoreConformance({
    name: 'sqlite-slowing',
    create: () => sqliteJobStore({ filename: ':memory:' }),
    triggers: slowingTriggers,
    capabilities: sqliteCapabilities,
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})
