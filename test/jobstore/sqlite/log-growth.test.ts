import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Logger } from '../../../src/core/logger.ts'
import { loadNodeSqlite } from '../../../src/jobstore/sqlite/node-sqlite.ts'
import type { SqliteDriverName, SqliteSettings } from '../../../src/jobstore/sqlite/sqlite-database.ts'
import { loadSqliteDriver } from '../../../src/jobstore/sqlite/sqlite-driver.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

const hasNodeSqlite = (await loadNodeSqlite()) !== null
const megabyte = 1024 * 1024

/** How large the log is after 80 MB were written beside a reader that has ended, in MB. */
async function sizeAfterReader(name: SqliteDriverName | null): Promise<number> {
  const settings: SqliteSettings = { filename: join(temporaryFolder(), 'jobs.db'), synchronous: 'normal' }
  const driver = await loadSqliteDriver(name)
  const [writer, reader] = [driver.open(settings, true), driver.open(settings, false)]
  const write = (bytes: number): unknown =>
    writer.prepare('INSERT INTO t VALUES (zeroblob(CAST(? AS integer)))').run(bytes)
  const logSize = (): number => statSync(`${settings.filename}-wal`).size / megabyte
  writer.prepare('CREATE TABLE t (b blob)').run()
  reader.prepare('BEGIN').run()
  reader.prepare('SELECT count(*) FROM t').all()
  for (let count = 0; count < 10; count++) write(8 * megabyte)
  expect(logSize()).toBeGreaterThan(80)
  reader.prepare('COMMIT').run()
  // The first copies the log, the second begins it anew.
  for (let count = 0; count < 2; count++) write(1)
  const size = logSize()
  reader.close()
  writer.close()
  return size
}

test('a log that had to grow beside a reader is cut when that has ended', async () => {
  expect(await sizeAfterReader(null)).toBe(64)
})

const testOnNode = test.skipIf(!hasNodeSqlite) // reason: Node.js has the module from 22.16 on

testOnNode('so it is with node:sqlite', async () => {
  expect(await sizeAfterReader('node:sqlite')).toBe(64)
})

test('a log that grows is warned of, once each time', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const clock = new ManualClock()
  const warned: unknown[] = []
  const quiet = (): void => {}
  const warn: Logger['warn'] = (fields, message) => warned.push([fields, message])
  const scheduler = await createScheduler({
    clock,
    logger: { debug: quiet, info: quiet, warn, error: quiet },
    jobStore: sqliteJobStore({ filename }),
  })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  // What is behind the frames that SQLite wrote is nothing to it, and takes no room on the disk.
  const isLarge = async (megabytes: number): Promise<void> => {
    truncateSync(`${filename}-wal`, megabytes * megabyte)
    for (let count = 0; count < 3; count++) await clock.advance(5_000)
  }
  const warning = (megabytes: number): unknown => [
    { file: `${filename}-wal`, bytes: megabytes * megabyte },
    expect.stringMatching(
      /^the -wal file .* grows, because a connection keeps a transaction open: .* End it/,
    ),
  ]
  await isLarge(256)
  expect(warned).toEqual([])
  await isLarge(257)
  await isLarge(400)
  await isLarge(200)
  await isLarge(300)
  expect(warned).toEqual([warning(257)])
  await isLarge(64)
  await isLarge(300)
  expect(warned).toEqual([warning(257), warning(300)])
})
