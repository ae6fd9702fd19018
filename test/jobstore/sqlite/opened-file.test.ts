import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { OpenedFile } from '../../../src/jobstore/sqlite/opened-file.ts'
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
