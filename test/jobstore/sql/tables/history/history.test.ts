import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, test } from 'vitest'
import { historyCases } from '../../../../support/history-cases.ts'
import { sqliteStores } from '../../../../support/sql-stores.ts'

historyCases(sqliteStores)

test.each([
  [{ record: 'some' }, 'record'],
  [{ maxAgeMs: 10 }, 'maxAgeMs'],
  [{ maxRows: 0 }, 'maxRows'],
  [{ rows: 1 }, 'rows'],
])('history refuses %j', (history, field) => {
  expect(() => sqliteJobStore({ filename: ':memory:', history: history as object })).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_OPTION', field }),
  )
})
