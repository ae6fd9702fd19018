import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { all, run } from '../../../src/jobstore/sql/kernel/statement.ts'
import { OutsideChanges } from '../../../src/jobstore/sqlite/outside-changes.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { sqliteRunner, temporaryFolder } from '../../support/sqlite.ts'

test('a commit right after the start is noticed', async () => {
  const filename = join(temporaryFolder(), 'a.db')
  const clock = new ManualClock(0)
  const runner = await sqliteRunner(filename)
  let noticed = 0
  const changes = new OutsideChanges(runner, clock, () => noticed++)
  await changes.start()
  const other = new Database(filename)
  other.exec('CREATE TABLE t (n integer)')
  other.close()
  await clock.advance(300)
  expect(noticed).toBe(1)
  changes.stop()
})

test('commits of other connections are noticed, own ones and reads are not', async () => {
  const filename = join(temporaryFolder(), 'a.db')
  const clock = new ManualClock(0)
  const runner = await sqliteRunner(filename)
  const execute = (text: string): Promise<unknown> => runner.transact(() => run({ text, values: [] }))
  await execute('CREATE TABLE t (n integer)')
  let noticed = 0
  const changes = new OutsideChanges(runner, clock, () => noticed++)
  await changes.start()
  await execute('INSERT INTO t VALUES (1)')
  await clock.advance(1_000)
  expect(noticed).toBe(0)

  const other = new Database(filename)
  other.prepare('SELECT * FROM t').all()
  await clock.advance(1_000)
  expect(noticed).toBe(0)
  other.exec('INSERT INTO t VALUES (2)')
  await clock.advance(300)
  expect(noticed).toBe(1)

  changes.stop()
  other.exec('INSERT INTO t VALUES (3)')
  await clock.advance(1_000)
  expect(noticed).toBe(1)
  other.close()
  expect(await runner.read(() => all({ text: 'SELECT n FROM t', values: [] }))).toHaveLength(3)
})
