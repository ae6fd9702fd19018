import { join } from 'node:path'
import { ramJobStore } from 'quartz-ts'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { recordCases } from '../support/record-cases.ts'
import { temporaryFolder } from '../support/sqlite.ts'

recordCases({
  engine: 'SQLite',
  prepare() {
    const filename = join(temporaryFolder(), 'jobs.db')
    return Promise.resolve((options) => sqliteJobStore({ filename, ...options }))
  },
})

recordCases({ engine: 'RAM', prepare: () => Promise.resolve((options) => ramJobStore(options)) })
