import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresJobStore } from '../../dist/postgres.js'
import { sqliteJobStore } from '../../dist/sqlite.js'
import { connectionString, freshSchema } from './postgres.mjs'

/** Places for a job store: each opens stores over the same, at first empty, data. */
export const places = {
  async postgres() {
    const { schema, client, drop } = await freshSchema()
    const open = (options = {}) =>
      postgresJobStore({ connectionString: connectionString(), schema, ...options })
    // Statistics and clean pages, as the server would have them by and by. Otherwise what was just stored is written to
    // disk while the commits of the measurement wait for the same disk.
    const settle = async () => {
      await client.query('VACUUM ANALYZE')
      await client.query('CHECKPOINT')
    }
    return { open, settle, schema, client, close: drop }
  },
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-bench-'))
    const filename = join(folder, 'jobs.db')
    const open = (options = {}) => sqliteJobStore({ filename, ...options })
    const close = async () => rmSync(folder, { recursive: true, force: true })
    return { open, settle: async () => {}, folder, filename, close }
  },
}
