import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { onTestFinished } from 'vitest'
import { describeJunkRows } from '../../support/junk-rows.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

describeJunkRows('SQLite', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  await sqliteJobStore({ filename }).migrate()
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
  })
  database.pragma('foreign_keys = OFF')
  return {
    store: () => sqliteJobStore({ filename, history: { record: 'all' } }),
    sql: (text) => {
      const statement = database.prepare(text)
      if (statement.reader) return Promise.resolve(statement.all() as Record<string, unknown>[])
      statement.run()
      return Promise.resolve([])
    },
    bytes: (hex) => `x'${hex}'`,
  }
})
