import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/time/clock.ts'
import { describeJunkRows } from '../../support/junk-rows.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

/** How many times as fast as the system's clock the store's goes. */
const hurry = 50

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
    // A rival that cannot be seen is watched for twenty seconds before its row counts as left behind.
    clock: {
      ...systemClock,
      elapsedMs: () => systemClock.elapsedMs() * hurry,
      setTimer: (delayMs, onFire, options) => systemClock.setTimer(delayMs / hurry, onFire, options),
    },
  }
})
