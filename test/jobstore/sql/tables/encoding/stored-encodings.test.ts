import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../../support/sqlite.ts'
import { describeStoredEncodings } from '../../../../support/stored-encodings.ts'

describeStoredEncodings('SQLite', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  await sqliteJobStore({ filename }).migrate()
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
  })
  return {
    store: (jobData) => sqliteJobStore({ filename, jobData }),
    data: (table, name) => {
      const column = table === 'triggers' ? 'trigger_name' : 'job_name'
      const row = database.prepare(`SELECT job_data FROM qrtz_${table} WHERE ${column} = ?`).get(name)
      return Promise.resolve((row as { job_data: Buffer | null }).job_data?.toString() ?? null)
    },
  }
})
