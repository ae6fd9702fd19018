import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { attachedClient } from '../../src/cli/api/attached-client.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { systemClock } from '../../src/time/clock.ts'
import { filledScheduler } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { FakeHost, runNow as run } from './fake-host.ts'

/** A file with jobs and triggers that no process has open. */
async function filledFile(): Promise<string> {
  const file = join(temporaryFolder(), 'jobs.db')
  const scheduler = await filledScheduler({ jobStore: sqliteJobStore({ filename: file }) })
  await scheduler.shutdown()
  return file
}

/** Writes over the page in which a table begins. */
function damage(file: string, table: string): void {
  const database = new Database(file)
  const found = database.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').get(table)
  const { rootpage } = found as { readonly rootpage: number }
  const size = database.pragma('page_size', { simple: true }) as number
  database.close()
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(size, 0xa5), 0, size, (rootpage - 1) * size)
  closeSync(handle)
}

test('of a damaged file the error is said alone: there is no server whose log has it', async () => {
  const file = await filledFile()
  damage(file, 'qrtz_triggers')
  const store = ['--store', file]
  const damaged =
    `quartz-ts: The SQLite database '${file}' is damaged. Restore it from a backup; ` +
    "'sqlite3 FILE .recover' saves what can be read."
  expect(await run(['triggers', ...store])).toMatchObject({ code: 1, err: `${damaged}\n` })
  expect(await run(['pause', 'job', 'mail/hourly', ...store])).toMatchObject({
    code: 1,
    err: `${damaged}\n`,
  })
})

test('of a file that cannot be written it is said once, also where the audit cannot be written either', async () => {
  const database = new Database(await filledFile())
  onTestFinished(() => {
    database.close()
  })
  database.pragma('query_only = 1')
  const host = new FakeHost({ clock: systemClock })
  const store = sqliteJobStore({ database, migrate: 'never' })
  const client = await attachedClient(store, { schedulerName: null, mayBeNew: false }, host)
  const pausing = client.call('jobs.pause', { params: { group: 'mail', name: 'hourly' }, body: {} })
  await expect(pausing).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringMatching(
      /^The SQLite database '[^']+' cannot be written\. (?!.*The SQLite)/,
    ) as string,
  })
  await client[Symbol.asyncDispose]()
  expect(host.stderr.text).toBe('')
})

test('of a file of an older release it is said which command brings it up to date', async () => {
  const file = await filledFile()
  const database = new Database(file)
  database.exec('DELETE FROM qrtz_schema_version WHERE version > 1')
  database.close()
  expect(await run(['triggers', '--store', file])).toMatchObject({
    code: 1,
    err:
      'quartz-ts: The database has no schema of version 2, or not all of it, and this process does not migrate it. ' +
      "Run 'npx quartz-ts migrate --store ...' on it (with --print to see the statements first).\n",
  })
})
