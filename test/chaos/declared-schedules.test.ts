import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { type Line, pauseHeld, stop, World } from './declared-world.ts'

/** Every second from the first to the last is there once. */
function expectEachSecondOnce(lines: readonly Line[]): void {
  const planned = lines.map((line) => line.planned).toSorted((a, b) => a - b)
  const once = planned.map((_, index) => (planned[0] ?? 0) + index * 1000)
  expect(planned, lines.map((line) => JSON.stringify(line)).join('\n')).toEqual(once)
}

/** Nothing was lost, doubled, resumed or reset. */
async function expectWhole(world: World, pausedAtMs: number): Promise<void> {
  expect(await world.lines('error')).toEqual([])
  expectEachSecondOnce(await world.lines('tick'))
  const counts = await world.lines('counter')
  expectEachSecondOnce(counts)
  expect(counts.map(({ count }) => count)).toEqual(counts.map((_, index) => index + 1))
  expect((await world.lines('held')).filter(({ planned }) => planned > pausedAtMs)).toEqual([])
}

test('three processes of two versions on PostgreSQL, restarted in turn, and all at once', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const world = new World('PostgreSQL', database.connectionString)
  const [a, b, c] = await Promise.all([
    world.start('a', 'old'),
    world.start('b', 'old'),
    world.start('c', 'old'),
  ])
  await world.ticks(3)
  const pausedAtMs = await pauseHeld(a)
  await stop(a)
  const a2 = await world.start('a', 'new')
  await world.ticks(2, 'new')
  // Old code that starts again beside new code.
  await stop(b)
  const b2 = await world.start('b', 'old')
  await world.ticks(3)
  const [firstNew = expect.fail('the new code is in force')] = (await world.lines('tick')).filter(
    ({ code }) => code === 'new',
  )
  await stop(b2)
  const b3 = await world.start('b', 'new')
  await stop(c)
  await world.ticks(2)
  await Promise.all([stop(a2), stop(b3)])
  // Nobody runs for some seconds.
  const last = await world.start('d', 'new')
  await world.ticks(4)
  await stop(last)
  await expectWhole(world, pausedAtMs)
  const later = (await world.lines('tick')).filter(({ planned }) => planned > firstNew.planned)
  expect(new Set(later.map(({ code }) => code))).toEqual(new Set(['new']))
  expect((await world.lines('removed')).filter(({ planned }) => planned > firstNew.planned + 2000)).toEqual(
    [],
  )
  expectEachSecondOnce(await world.lines('added'))
})

test('one process on SQLite, restarted with new code, old code and new code again', async () => {
  const world = new World('SQLite', join(temporaryFolder(), 'jobs.db'))
  const first = await world.start('a', 'old')
  await world.ticks(2)
  const pausedAtMs = await pauseHeld(first)
  await stop(first)
  for (const code of ['new', 'old', 'new'] as const) {
    const node = await world.start('a', code)
    await world.ticks(2, code)
    await stop(node)
  }
  await expectWhole(world, pausedAtMs)
})
