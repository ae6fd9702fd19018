import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { OpenedFile, OpenedFiles } from '../../../src/jobstore/sqlite/opened-file.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

async function runningOn(filename: string): Promise<{ clock: ManualClock; errors: string[] }> {
  const clock = new ManualClock()
  const errors: string[] = []
  const scheduler = await createScheduler({ clock, logger: false, jobStore: sqliteJobStore({ filename }) })
  onTestFinished(() => scheduler.shutdown())
  scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
  await scheduler.start()
  return { clock, errors }
}

/** Lets so many check-ins pass. */
async function checkIn(clock: ManualClock, times: number): Promise<void> {
  for (let count = 0; count < times; count++) await clock.advance(5_000)
}

const lost = expect.stringMatching(
  /^The file of the SQLite database '.*jobs.db' was deleted, or another/,
) as string

test('a file that is deleted under a running scheduler is told of, once', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const { clock, errors } = await runningOn(filename)
  await checkIn(clock, 3)
  expect(errors).toEqual([])
  rmSync(filename)
  await checkIn(clock, 6)
  expect(errors).toEqual([lost])
})

test('so is one in the place of which a backup is put', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const { clock, errors } = await runningOn(filename)
  copyFileSync(filename, `${filename}.backup`)
  renameSync(`${filename}.backup`, filename)
  await checkIn(clock, 6)
  expect(errors).toEqual([lost])
})

test.each(['-wal', '-shm'])('so is its %s file, alone', async (ending) => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const { clock, errors } = await runningOn(filename)
  await checkIn(clock, 3)
  rmSync(`${filename}${ending}`)
  await checkIn(clock, 6)
  expect(errors).toEqual([
    expect.stringMatching(
      new RegExp(`^The file ${ending} of the SQLite database '.*jobs.db' was deleted, or`),
    ),
  ])
})

test('of all that are deleted at once, one is told of', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const { clock, errors } = await runningOn(filename)
  for (const ending of ['', '-wal', '-shm']) rmSync(`${filename}${ending}`)
  await checkIn(clock, 6)
  expect(errors).toEqual([lost])
})

test('what SQLite itself does with the files while other connections come and go is no loss', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const { clock, errors } = await runningOn(filename)
  for (const mode of ['PASSIVE', 'RESTART', 'TRUNCATE']) {
    const other = new Database(filename)
    other.pragma(`wal_checkpoint(${mode})`)
    other.exec('VACUUM')
    other.close()
    await checkIn(clock, 3)
  }
  expect(errors).toEqual([])
})

test('the files beside a database are those of the connection that has it open', () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const open = (): Database.Database => {
    const connection = new Database(filename)
    connection.pragma('journal_mode = WAL')
    connection.exec('CREATE TABLE IF NOT EXISTS item (id int); INSERT INTO item VALUES (1)')
    return connection
  }
  const first = open()
  const files = new OpenedFiles(filename, 1)
  const looks = [files.lostEnding(1), files.lostEnding(1)]
  // SQLite deletes them with its last connection, as after an error of the disk.
  first.close()
  looks.push(files.lostEnding(null), files.lostEnding(null))
  const second = open()
  onTestFinished(() => {
    second.close()
  })
  for (let look = 0; look < 3; look++) looks.push(files.lostEnding(2))
  expect(looks.filter((ending) => ending !== null)).toEqual([])
  rmSync(`${filename}-wal`)
  expect([files.lostEnding(2), files.lostEnding(2), files.lostEnding(2)]).toEqual([null, '-wal', null])
})

test('a file that comes back in time is none that was lost, nor is a number that changes at each look', () => {
  const path = join(temporaryFolder(), 'file')
  const moved = `${path}.moved`
  writeFileSync(path, '')
  const file = new OpenedFile(path)
  renameSync(path, moved)
  const looks = [file.wasLost()]
  renameSync(moved, path)
  looks.push(file.wasLost(), file.wasLost())
  // Before the first one is gone, whose number the next new file may get.
  for (const name of ['a', 'b']) writeFileSync(`${path}.${name}`, '')
  for (const name of ['a', 'b']) {
    renameSync(`${path}.${name}`, path)
    looks.push(file.wasLost())
  }
  expect(looks).toEqual([false, false, false, false, false])
  expect(file.wasLost()).toBe(true)
  expect(new OpenedFile(':memory:').wasLost()).toBe(false)
})
