import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { temporaryFolder } from './sqlite.ts'

/** A store on a file, into which {@link breakTrigger} writes beside it. */
export function storeOnFile(): { readonly jobStore: JobStore; readonly filename: string } {
  const filename = join(temporaryFolder(), 'jobs.db')
  return { jobStore: sqliteJobStore({ filename }), filename }
}

/** Writes into the row of a trigger what no store would. */
export function breakTrigger(filename: string, name: string, change: string): void {
  const database = new Database(filename)
  const { changes } = database.prepare(`UPDATE qrtz_triggers SET ${change} WHERE trigger_name = ?`).run(name)
  database.close()
  if (changes !== 1) throw new Error(`there is no trigger '${name}'`)
}
